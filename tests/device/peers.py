#!/usr/bin/env python3
"""Times kernels of the acceptance programs and, where PyTorch is installed, its own kernels for the same work, in turn on one GPU.

    tests/device/peers.py --tessera build/bin/tessera [--device cuda:0] [--rounds 3]

Random data; each side's figure is the median over the rounds of the median of back-to-back launches.  Prints a line for each case with the ratio
PyTorch / Tessera (above 1: Tessera is faster), and the worst ratio last.
"""
import argparse, json, os, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "acceptance", "kernels.tile")


def tessera(args, options):
    done = subprocess.run([args.tessera, "run", KERNELS, "--device", args.device, "--time", "--repeat", "30", "--json", *options], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr or done.stdout)
    return json.loads(done.stdout)["time"]["median_us"]


def peer_of(torch, work):
    """Median microseconds of back-to-back calls."""
    for _ in range(5):
        work()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(31)]
    events[0].record()
    for event in events[1:]:
        work()
        event.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) * 1000 for a, b in zip(events, events[1:]))


def cases(torch):
    """Label, work in FLOP or bytes, unit, options of `tessera run`, the peer's call."""
    def tensor(*shape, dtype):
        return torch.randn(*shape, device="cuda", dtype=dtype) if torch else None
    bf16, f16 = (torch.bfloat16, torch.float16) if torch else (None, None)
    for n in (2048, 4096, 8192):
        a, b = tensor(n, n, dtype=bf16), tensor(n, n, dtype=bf16)
        yield f"linear bf16 {n}^3", 2 * n**3, "TFLOP/s", ["-k", "linear_forward", "--arg", f"x=randn:bf16:{n}x{n}", "--arg", f"w=randn:bf16:{n}x{n}", "--arg", f"y=empty:bf16:{n}x{n}"], lambda a=a, b=b: a @ b.T
    n = 4096
    a, b = tensor(n, n, dtype=bf16), tensor(n, n, dtype=bf16)
    yield "matmul bf16 4096^3", 2 * n**3, "TFLOP/s", ["-k", "matmul", "--stages", "2", "--arg", f"a=randn:bf16:1x{n}x{n}", "--arg", f"b=randn:bf16:1x{n}x{n}", "--arg", f"c=empty:bf16:1x{n}x{n}"], lambda: a @ b
    for batch, heads, length, d, causal in ((4, 16, 4096, 128, False), (4, 16, 4096, 128, True), (4, 32, 4096, 64, False)):
        q, k, v = (tensor(batch, heads, length, d, dtype=f16) for _ in range(3))
        shape = f"{batch}x{heads}x{length}x{d}"
        options = ["-k", "attention_forward", "-D", f"causal={str(causal).lower()}"]
        for name in "qkv":
            options += ["--arg", f"{name}=randn:f16:{shape}"]
        options += ["--arg", f"o=empty:f16:{shape}", "--arg", f"lse=empty:f32:{batch}x{heads}x{length}", "--arg", f"scale={d ** -0.5}"]

        def flash(q=q, k=k, v=v, causal=causal):
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        yield f"attention f16 {shape} {'causal' if causal else 'full'} (peer: FlashAttention-2)", 4 * batch * heads * length**2 * d / (2 if causal else 1), "TFLOP/s", options, flash
    rows, columns = 16384, 4096
    x = tensor(rows, columns, dtype=bf16)
    y = torch.empty_like(x) if torch else None
    traffic = 2 * rows * columns * 2
    yield "softmax_row bf16 16384x4096 (peer: copy)", traffic, "TB/s", ["-k", "softmax_row", "--arg", f"x=randn:bf16:{rows}x{columns}", "--arg", f"y=empty:bf16:{rows}x{columns}"], lambda: y.copy_(x)
    yield "layer_norm bf16 16384x4096 (peer: copy)", traffic, "TB/s", ["-k", "layer_norm", "--arg", f"x=randn:bf16:{rows}x{columns}", "--arg", f"gamma=randn:bf16:{columns}", "--arg", f"y=empty:bf16:{rows}x{columns}",
        "--arg", f"mean=empty:f32:{rows}", "--arg", f"rstd=empty:f32:{rows}", "--arg", "eps=1e-5"], lambda: y.copy_(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default=os.path.join(HERE, "..", "..", "build", "bin", "tessera"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        torch = None
        print("PyTorch is not installed: no peers")
    worst = None
    for label, work, unit, options, peer in cases(torch):
        own, other = [], []
        for _ in range(args.rounds):
            own.append(tessera(args, options))
            if torch:
                other.append(peer_of(torch, peer))
        mine = statistics.median(own)
        line = f"{label:72s} {mine:9.1f} us {work / mine / 1e6:8.1f} {unit}" if unit == "TFLOP/s" else f"{label:72s} {mine:9.1f} us {work / mine / 1e6:8.2f} {unit}"
        if torch:
            theirs = statistics.median(other)
            ratio = theirs / mine
            line += f"   peer {theirs:9.1f} us   ratio {ratio:5.2f}"
            if worst is None or ratio < worst[0]:
                worst = (ratio, label)
        print(line, flush=True)
    if worst:
        print(f"worst ratio {worst[0]:.2f}: {worst[1]}")


if __name__ == "__main__":
    sys.exit(main())
