"""Loads libsoft_ops.so into Python and compares its operations with plain PyTorch.

Usage: python3 ops_test.py LIBRARY
"""
import sys

try:
    import torch
except ImportError:
    sys.exit("python3-torch is missing; `scripts/setup python3-torch` installs it")

torch.ops.load_library(sys.argv[1])
ops = torch.ops.soft


def plain_attention(q, v, landmarks, epsilon=0.01):
    def kernel(a, b):
        return torch.exp(-0.5 * (a.unsqueeze(-2) - b.unsqueeze(-3)).square().sum(-1))

    scaled = q * q.shape[-1] ** -0.25
    cross, core = kernel(scaled, landmarks), kernel(landmarks, landmarks)
    inverse = torch.linalg.inv(core + epsilon * torch.eye(core.shape[-1], dtype=core.dtype))
    return cross @ (inverse @ (cross.transpose(-1, -2) @ v))


def example(dtype):
    """q, v [2, 3, 64, 8], and 16 landmarks that are means of two tokens each."""
    torch.manual_seed(0)
    q, v = (torch.randn(2, 3, 64, 8, dtype=torch.float64).to(dtype) for _ in range(2))
    q.requires_grad_()
    v.requires_grad_()
    landmarks = (q * 8**-0.25)[:, :, :32].unflatten(2, (16, 2)).mean(3)
    return q, v, landmarks


def relative(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


def attention_equals_the_plain_expression():
    q, v, landmarks = example(torch.float64)
    expected = plain_attention(q, v, landmarks)
    gradients = torch.autograd.grad(expected.sin().sum(), (q, v))
    q, v, landmarks = example(torch.float32)
    y = ops.attention(q, v, landmarks, inverse="exact")
    assert relative(y, expected) < 1e-4, relative(y, expected)
    for found, wanted in zip(torch.autograd.grad(y.sin().sum(), (q, v)), gradients):
        assert relative(found, wanted) < 1e-3, relative(found, wanted)


def newton_inverse_inverts():
    torch.manual_seed(1)
    points = torch.randn(5, 9, 4)
    a = torch.exp(-0.5 * (points.unsqueeze(-2) - points.unsqueeze(-3)).square().sum(-1))
    a.requires_grad_()
    inverse = ops.newton_inverse(a, steps=30)
    expected = torch.linalg.inv(a + 0.01 * torch.eye(9))
    assert relative(inverse, expected) < 1e-3, relative(inverse, expected)
    (gradient,) = torch.autograd.grad(inverse.sum(), a)
    (wanted,) = torch.autograd.grad(expected.sum(), a)
    assert relative(gradient, wanted) < 1e-2, relative(gradient, wanted)


def double_runs_as_a_plain_expression():
    q, v, landmarks = example(torch.float64)
    assert ops.attention(q, v, landmarks).dtype == torch.float64


def a_wrong_shape_or_name_is_an_error_that_says_so():
    q, v, landmarks = example(torch.float32)
    for call, words in [
        (lambda: ops.attention(q, v[:, :, :3], landmarks), "q and v must both be [B, h, n, d]"),
        (lambda: ops.attention(q, v, landmarks[..., :2]), "landmarks must be [B, h, m, d]"),
        (lambda: ops.attention(q, v, landmarks, inverse="newtn"), "did you mean 'newton'"),
        (lambda: ops.newton_inverse(torch.zeros(2, 3)), "a must be [.., m, m]"),
    ]:
        try:
            call()
        except RuntimeError as error:
            assert words in str(error), str(error)
        else:
            raise AssertionError(f"no error with {words!r}")


for test in [
    attention_equals_the_plain_expression,
    newton_inverse_inverts,
    double_runs_as_a_plain_expression,
    a_wrong_shape_or_name_is_an_error_that_says_so,
]:
    test()
    print("ok", test.__name__)
