"""The same work in PyTorch, and in Triton where it is installed, for tools/bench-device.

Each function takes the torch module and gives {name: make}, where make() allocates random data and returns the call to time.  Nothing runs before make.
"""
try:
    from triton_peers import KERNELS as TRITON
except ImportError:
    TRITON = None


def with_triton(peers, name, make):
    if TRITON:
        peers["Triton"] = lambda: make(TRITON[name])
    return peers


def matmul_peers(torch, n):
    def tensors():
        a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        return a, b, torch.empty_like(a)

    def blas():
        a, b, c = tensors()
        return lambda: torch.mm(a, b, out=c)

    return with_triton({"PyTorch": blas}, "matmul", lambda kernel: kernel(*tensors()))


def attention_peers(torch, shape, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def tensors():
        return [torch.randn(*shape, device="cuda", dtype=torch.float16) for _ in range(3)]

    def through(backend):
        def make():
            q, k, v = tensors()

            def call():
                with sdpa_kernel(backend):
                    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            return call
        return make

    peers = {"FlashAttention-2": through(SDPBackend.FLASH_ATTENTION), "cuDNN": through(SDPBackend.CUDNN_ATTENTION)}
    return with_triton(peers, "attention", lambda kernel: kernel(*tensors(), causal))


def _rows(torch, shape):
    x = torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
    return x, torch.empty_like(x)


def softmax_peers(torch, shape):
    def make():
        x, y = _rows(torch, shape)
        return lambda: torch.softmax(x, dim=1, out=y)

    return with_triton({"PyTorch": make}, "softmax", lambda kernel: kernel(*_rows(torch, shape)))


def layer_norm_peers(torch, shape):
    def weights():
        return [torch.randn(shape[1], device="cuda", dtype=torch.bfloat16) for _ in range(2)]

    def make():
        (x, _), (gamma, beta) = _rows(torch, shape), weights()
        return lambda: torch.nn.functional.layer_norm(x, (shape[1],), gamma, beta)

    return with_triton({"PyTorch": make}, "layer_norm", lambda kernel: kernel(*_rows(torch, shape), *weights()))


def rms_norm_peers(torch, shape):
    def weight():
        return torch.randn(shape[1], device="cuda", dtype=torch.bfloat16)

    def make():
        (x, _), gamma = _rows(torch, shape), weight()
        return lambda: torch.nn.functional.rms_norm(x, (shape[1],), gamma, 1e-5)

    return with_triton({"PyTorch": make}, "rms_norm", lambda kernel: kernel(*_rows(torch, shape), weight()))


def vector_add_peers(torch, n):
    def tensors():
        x, y = (torch.randn(n, device="cuda") for _ in range(2))
        return x, y, torch.empty_like(x)

    def make():
        x, y, z = tensors()
        return lambda: torch.add(x, y, out=z)

    return with_triton({"PyTorch": make}, "vector_add", lambda kernel: kernel(*tensors()))


def transpose_peers(torch, shape):
    def make():
        x = torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
        y = torch.empty(shape[1], shape[0], device="cuda", dtype=torch.bfloat16)
        return lambda: y.copy_(x.T)

    return {"PyTorch": make}


def rotary_peers(torch, shape):
    """PyTorch has no kernel of its own: the usual composition, which moves several times the bytes."""
    def make():
        x = torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
        half = shape[3] // 2
        cosine, sine = (torch.randn(1, shape[1], 1, half, device="cuda") for _ in range(2))

        def call():
            a, b = x[..., :half].float(), x[..., half:].float()
            x[..., :half] = a * cosine - b * sine
            x[..., half:] = b * cosine + a * sine
        return call

    return {"PyTorch (composed)": make}
