"""Twelve public reports, each with an output, the function that its thread assumed, and the true function.
Outputs are as printed in the report, or computed by the code in the report."""
import numpy as np

ROWS = np.random.default_rng(5).standard_normal((12, 16)).astype("f4") \
    * (np.float32(4e-3) / 2 ** np.arange(12, dtype="f4")[:, None])
SMALL = ROWS / 64
IMAGES = np.random.default_rng(6).standard_normal((4, 5, 5, 6)).astype("f4") \
    * (np.float32(0.1) / 2 ** np.arange(5, dtype="f4")[:, None, None])


def mean(x, axis=-1):
    return x.mean(axis, keepdims=True)


def var(x, axis=-1):
    return ((x - mean(x, axis)) ** 2).mean(axis, keepdims=True)


def most(x):
    return np.abs(x).max(-1, keepdims=True)


def rms(x):
    return np.sqrt((x * x).mean(-1, keepdims=True))


f4 = np.float32
# report, the assumption of its thread, x, y, options, the answer, the first candidate, text that all candidates contain
REPORTS = [
    ("onnxruntime 12917", "the printed output is right",
     [[1.2416, 0.946123, 13.1685, 0.36423, 21.145, 0.03941]],
     [[0.420106, -3.31971, -0.600539, -3.69086, -1.28313, -3.89804]],
     {"gamma": [-0.6953, 5.1824] * 3, "beta": [0.6435, -0.3964] * 3, "digits": 5},
     "open", "torch-nobias; beta left out", "; beta left out"),
    ("tensorflow 58146", "it should be close to [-1, 1]", [[0.09484422, 0.16441762]],
     [[-0.73995596, 0.73995596]], {}, "open", "ddof=0,eps=0.001@var,affine=none", "ddof=0,eps=0.0"),
    ("pytorch 84356, nn.LayerNorm", "it does not normalize", [[0, 2], [0, 4], [-1, 5]],
     [[-1, 1]] * 3, {"digits": 4}, "open", "tinyllm", "ddof=0|tinyllm"),
    ("pytorch 84356, by hand", "this normalizes", [[0, 2], [0, 4], [-1, 5]],
     [[-0.7071, 0.7071]] * 3, {"digits": 4}, "open", "zscore", "ddof=1|zscore"),
    ("BERT-pytorch 30", "it does the same as nn.LayerNorm", [[1, 0, 0, 0]],
     [[1.5, -0.5, -0.5, -0.5]], {"digits": 4}, "open", "zscore", "ddof=1|zscore"),
    ("discuss.pytorch.org 153024", "nn.LayerNorm is wrong, and this is right", [[4, 3, 1]],
     [[0.8729, 0.2182, -1.0911]], {"digits": 4}, "open", "zscore", "ddof=1|zscore"),
    ("burn 2185", "it is PyTorch's", ROWS, (ROWS - mean(ROWS)) / (np.sqrt(var(ROWS)) + f4(1e-5)),
     {}, "named", "ddof=0,eps=1e-05@std,affine=none", "."),
    ("pytorch 1959", "the class of a comment is the paper's", SMALL,
     (SMALL - mean(SMALL)) / (SMALL.std(-1, keepdims=True, ddof=1) + f4(1e-6)), {},
     "named", "ddof=1,eps=1e-06@std,affine=none", "."),
    ("Kyubyong/transformer 40", "moments over the batch are layer normalization's", ROWS.T,
     (ROWS.T - mean(ROWS.T, 0)) / np.sqrt(var(ROWS.T, 0) + f4(1e-8)), {},
     "named", "ddof=0,eps=1e-08@var,affine=none; over axis 0", "."),
    ("tensorflow 39942", "keras.layers.LayerNormalization of images is instance norm", IMAGES,
     (IMAGES - mean(IMAGES)) / np.sqrt(var(IMAGES) + f4(1e-3)), {},
     "named", "ddof=0,eps=0.001@var,affine=none", "."),
    ("simple_stories_train 6", "torch's RMSNorm may have a bug", SMALL,
     SMALL / np.sqrt(rms(SMALL) ** 2 + f4(2. ** -23)), {},
     "named", "operation=rmsnorm,eps=1.1920928955078125e-07@square", "."),
    ("TransformerEngine 364", "eps stands outside the root", ROWS,
     ROWS / np.sqrt(rms(ROWS) ** 2 + f4(1e-5)), {},
     "named", "operation=rmsnorm,eps=1e-05@square", "."),
    ("coremltools 2822", "rescaling by max |x| leaves RMSNorm as it is", ROWS,
     ROWS / (np.sqrt((rms(ROWS) / most(ROWS)) ** 2 + f4(1e-5)) * most(ROWS)), {}, "none", None, "."),
]
