#!/usr/bin/env bash
# ptxas without a CUDA toolkit: installs the pinned Python package that carries it into DIR and links DIR/bin/ptxas.
#
#   install_ptxas.sh DIR
set -euo pipefail
folder=${1:?usage: install_ptxas.sh DIR}
mkdir -p "$folder/bin"
python3 -m pip install --quiet --no-deps --target "$folder/python" 'nvidia-cuda-nvcc==13.0.*'
tool=$(find "$folder/python" -path '*/bin/ptxas' | head -n 1)
[ -n "$tool" ] || { echo "the package has no ptxas" >&2; exit 1; }
chmod +x "$tool"
ln -sf "$(realpath "$tool")" "$folder/bin/ptxas"
"$folder/bin/ptxas" --version | tail -n 2
