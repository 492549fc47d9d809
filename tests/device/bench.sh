#!/bin/bash
# Times the example kernels on a GPU with random data: bench.sh TESSERA [DEVICE].  Prints median microseconds and the rate.
T=${1:-build/bin/tessera}; D=${2:-cuda:0}
K=$(dirname "$0")/../acceptance/kernels.tile
row() { # label, work (TFLOP or TB), unit, options...
  local label=$1 work=$2 unit=$3; shift 3
  local us
  us=$("$T" run "$K" --device "$D" --time --repeat 30 --json "$@" 2>/tmp/bench.err | grep -oE '"median[^:]*": *[0-9.]+' | grep -oE '[0-9.]+$' | head -1)
  if [ -z "$us" ]; then printf '%-58s failed: %s\n' "$label" "$(head -c 300 /tmp/bench.err | tr '\n' ' ')"; return; fi
  awk -v l="$label" -v w="$work" -v u="$us" -v unit="$unit" 'BEGIN { printf "%-58s %10.1f us %9.1f %s\n", l, u, w / u * 1e6, unit }'
}
for s in 2 3 4; do
  row "matmul bf16 4096^3 NN stages $s" 0.137439 TFLOP/s -k matmul --stages $s --arg a=randn:bf16:1x4096x4096 --arg b=randn:bf16:1x4096x4096 --arg c=empty:bf16:1x4096x4096
done
row "linear bf16 4096^3 NT" 0.137439 TFLOP/s -k linear_forward --arg x=randn:bf16:4096x4096 --arg w=randn:bf16:4096x4096 --arg y=empty:bf16:4096x4096
row "linear bf16 4096^3 NT bias gelu" 0.137439 TFLOP/s -k linear_forward -D act=gelu --arg x=randn:bf16:4096x4096 --arg w=randn:bf16:4096x4096 --arg bias=randn:bf16:4096 --arg y=empty:bf16:4096x4096
row "linear input gradient bf16 4096^3" 0.137439 TFLOP/s -k linear_input_gradient --arg dy=randn:bf16:4096x4096 --arg w=randn:bf16:4096x4096 --arg dx=empty:bf16:4096x4096
row "linear weight gradient bf16 4096^3" 0.137439 TFLOP/s -k linear_weight_gradient --arg x=randn:bf16:4096x4096 --arg dy=randn:bf16:4096x4096 --arg dw=empty:f32:4096x4096
for s in 1 2 3; do for bm in 64 128; do
  row "attention f16 d128 4x16x4096 full BM $bm stages $s" 0.549756 TFLOP/s -k attention_forward -D BM=$bm --stages $s --arg q=randn:f16:4x16x4096x128 --arg k=randn:f16:4x16x4096x128 --arg v=randn:f16:4x16x4096x128 --arg o=empty:f16:4x16x4096x128 --arg lse=empty:f32:4x16x4096 --arg scale=0.0883883
done; done
row "attention f16 d128 4x16x4096 causal" 0.274878 TFLOP/s -k attention_forward -D causal=true --arg q=randn:f16:4x16x4096x128 --arg k=randn:f16:4x16x4096x128 --arg v=randn:f16:4x16x4096x128 --arg o=empty:f16:4x16x4096x128 --arg lse=empty:f32:4x16x4096 --arg scale=0.0883883
row "attention f16 d64 4x32x4096 full" 0.549756 TFLOP/s -k attention_forward --arg q=randn:f16:4x32x4096x64 --arg k=randn:f16:4x32x4096x64 --arg v=randn:f16:4x32x4096x64 --arg o=empty:f16:4x32x4096x64 --arg lse=empty:f32:4x32x4096 --arg scale=0.125
row "softmax_row bf16 16384x4096" 0.000268435 TB/s -k softmax_row --arg x=randn:bf16:16384x4096 --arg y=empty:bf16:16384x4096
row "softmax_online bf16 16384x4096 (3 passes of bytes)" 0.000402653 TB/s -k softmax_online --arg x=randn:bf16:16384x4096 --arg y=empty:bf16:16384x4096
row "layer_norm bf16 16384x4096" 0.000268435 TB/s -k layer_norm --arg x=randn:bf16:16384x4096 --arg gamma=randn:bf16:4096 --arg y=empty:bf16:16384x4096 --arg mean=empty:f32:16384 --arg rstd=empty:f32:16384 --arg eps=1e-5
