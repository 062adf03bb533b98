"""New code for the RMSNorm of public programs, and ten public reports of its results for
bf16 rows: each output, and the function that made it."""
import numpy as np

rng = np.random.default_rng(7)
f4 = np.float32


def r16(x):
    """Rounds to bf16, ties to even, stored as f32."""
    bits = np.ascontiguousarray(x, f4).view("u4").astype("u8")
    return (((bits + 0x7fff + (bits >> 16 & 1)) >> 16) << 16).astype("u4").view(f4)


def stored(x):
    return (np.ascontiguousarray(x, f4).view("u4") >> 16).astype("u2").view("V2")


# Rows of several scales, so that eps has an effect; the weight has values for which 1 + w is no bf16 number.
SCALES = f4(1) / 2 ** np.arange(16, dtype=f4)[:, None]
X = r16(rng.standard_normal((16, 96)).astype(f4) * SCALES / 2)
RESIDUAL = r16(rng.standard_normal((16, 96)).astype(f4) * SCALES)
W = r16(rng.standard_normal(96).astype(f4) * f4(0.3))


def root(x, eps):
    return f4(1) / np.sqrt((x * x).mean(-1, keepdims=True, dtype="f8").astype(f4) + f4(eps))


def outer(x, eps):
    return np.sqrt((x * x).mean(-1, keepdims=True)) + f4(eps)


def llama(x, w, eps):
    return r16(w * r16(x * root(x, eps)))


def once(x, w, eps):
    return r16(x * root(x, eps) * w)


WIDE = X + RESIDUAL
SUM = r16(WIDE)
# program, residual, y in bf16, the function
PROGRAMS = [
    ("transformers LlamaRMSNorm", None, llama(X, W, 1e-5), "llama"),
    ("transformers T5LayerNorm", None, llama(X, W, 1e-6), "t5"),
    ("transformers Qwen2RMSNorm after a residual", RESIDUAL, llama(SUM, W, 1e-6), "t5"),
    ("transformers GemmaRMSNorm", None, once(X, 1 + W, 1e-6), "gemma"),
    ("transformers Gemma3nRMSNorm", None, once(X, W, 1e-6), "gemma3n"),
    ("torch.nn.RMSNorm", None, once(X, W, 2.0 ** -23), "torch-rms"),
    ("ggml_rms_norm and ggml_mul", None, once(X, W, 1e-5), "ggml"),
    ("vLLM, CUDA", None, llama(X, W, 1e-6), "t5"),
    ("vLLM, CPU, fused_add", RESIDUAL, r16(SUM * root(WIDE, 1e-6) * W), "vllm-cpu"),
    ("FlashInfer FusedAddRMSNorm", RESIDUAL, once(WIDE, W, 1e-6), "flashinfer"),
    ("MLX, fallback", None, llama(X, W, 1e-5), "llama"),
    ("candle RmsNorm::cpu_fwd", None, r16(r16(X / r16(1 / root(X, 1e-5))) * W), "candle"),
    ("Transformer Engine, zero_centered_gamma", None, once(X, 1 + W, 1e-5),
     "operation=rmsnorm,eps=1e-05@square,weight=1+w"),
    ("Liger-Kernel, llama", None, llama(X, W, 1e-6), "t5"),
    ("Liger-Kernel, gemma", None, once(X, 1 + W, 1e-6), "gemma"),
    ("flax linen.RMSNorm", None, once(X, W, 1e-6), "gemma3n"),
]
# Above each: the assumption. report, residual, y in bf16, the answer, the first candidate
REPORTS = [
    # sums of squares underflow in bf16
    ("pytorch 189581", None, once(X, W, 2.0 ** -7), "named",
     "operation=rmsnorm,eps=0.0078125@square,weight=w"),
    # it is LlamaRMSNorm
    ("TransformerEngine 1132", None, once(X, W, 1e-5), "named", "ggml"),
    # it is GemmaRMSNorm
    ("Liger-Kernel 74", None, once(X, W, 1e-6), "named", "gemma3n"),
    # it is GemmaRMSNorm
    ("vllm 3653", None, once(X, r16(1 + W), 1e-6), "named",
     "operation=rmsnorm,eps=1e-06@square,weight=1+w-rounded"),
    # cast_x_before_out_mul holds with a residual
    ("sglang 25920", RESIDUAL, once(WIDE, W, 1e-5), "named",
     "operation=rmsnorm,eps=1e-05@square,weight=w,sum=unrounded"),
    # eps is 1e-5 as requested
    ("cutlass 1112", None, llama(X, W, 1e-6), "named", "t5"),
    # eps is the config's 1e-5
    ("transformers 38025", None, llama(X, W, 1e-6), "named", "t5"),
    # it is Llama's
    ("OLMo 281", None, r16(r16(X / outer(X, 1e-6)) * W), "named",
     "operation=rmsnorm,eps=1e-06@root,weight=w,cast=yes"),
    # bf16 is this inexact
    ("IRON 139", None, r16(r16(X * r16(root(X, 1e-5))) * W), "named",
     "ggml; each step rounded to bf16"),
    # x is divided by its root
    ("llm-foundry 371", None, r16(X / root(X, 1e-5) * W), "none", None),
]
