#!/usr/bin/env python3
"""Checks dropout against Philox4x32-10 written here from its definition (Salmon et al., 2011), with its published vectors, for several block sizes."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checking import ROUNDOFF, Checker, Input, Output, normal, np, rounded  # noqa: E402


def philox(counter, key):
    """counter: [..., 4] uint64 holding 32-bit words; key: two words.  Ten rounds."""
    c, k = [counter[..., i].copy() for i in range(4)], list(key)
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        low = np.uint64(0xFFFFFFFF)
        c = [(second >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), second & low, (first >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), first & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=-1)


def uniform(seed, n):
    block = (n // 4).astype(np.uint64)
    counter = np.stack([block & np.uint64(0xFFFFFFFF), block >> np.uint64(32), np.zeros_like(block), np.zeros_like(block)], axis=-1)
    words = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))
    word = np.take_along_axis(words, (n % 4)[:, None].astype(np.int64), axis=1)[:, 0]
    return (word >> np.uint64(8)).astype(np.float64) * 2.0 ** -24


# The vectors that come with the definition: counter and key all zero, and all ones.
assert [hex(int(w)) for w in philox(np.zeros((1, 4), np.uint64), (0, 0))[0]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
assert [hex(int(w)) for w in philox(np.full((1, 4), 0xFFFFFFFF, np.uint64), (0xFFFFFFFF, 0xFFFFFFFF))[0]] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]

checker = Checker(pathlib.Path(__file__).with_name("dropout.tile"), __doc__)
for dtype in ["bf16"] if checker.quick else ["f32", "f16", "bf16"]:
    for n in [1, 5000] if checker.quick else [0, 1, 4, 5000, 4096, 70001]:
        for p in [0.25] if checker.quick else [0.0, 0.25, 0.9]:
            for seed, offset in [(42, 0), ((1 << 63) + 12345678901, (1 << 40) + 3)]:
                x = rounded(normal(n, n), dtype)
                p32 = np.float32(p)
                scale = np.float64(np.float32(1) / (np.float32(1) - p32))
                y = np.where(uniform(seed, offset + np.arange(n)) >= np.float64(p32), x * scale, 0.0)
                for block in [4096] if checker.quick else [4096, 1000]:
                    for kernel, source, result in (("dropout", "x", "y"), ("dropout_backward", "dy", "dx")):
                        checker.run(f"{dtype} {n} p {p} seed {seed} in blocks of {block}", kernel, {"T": dtype, "BLOCK": block},
                                    {source: Input(x, dtype), result: Output(y, dtype, 1e-7, 1e-6 + ROUNDOFF[dtype]), "p": float(p32), "seed": seed, "offset": offset})
sys.exit(checker.finish())
