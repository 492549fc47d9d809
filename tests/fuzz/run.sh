#!/usr/bin/env bash
# Fuzzes the parser from the programs of the tree: run.sh FUZZER SECONDS.  An input that fails is left beside the fuzzer.
set -euo pipefail
fuzzer=${1:?usage: run.sh FUZZER SECONDS} seconds=${2:?usage: run.sh FUZZER SECONDS}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
find "$root/examples" "$root/tests" -name '*.tile' -exec cp --backup=numbered {} "$seeds" \;
# The words of the language, so that mutations make programs and not only noise.
printf '"%s"\n' kernel fn op tune let var for in by if else while return requires grid and or not None temp import out inout accum \
  '+:' '=>' '..' '{' '}' '[' ']' '<' '>' '@' '**' '<<' 'pad =' 'axis =' 'bf16' >"$seeds/words.dict"
"$fuzzer" -max_total_time="$seconds" -timeout=10 -max_len=8000 -rss_limit_mb=4096 -dict="$seeds/words.dict" -print_final_stats=1 \
  -artifact_prefix="$(dirname "$fuzzer")/" "$seeds"
