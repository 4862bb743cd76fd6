"""The conformance suite lies beside the other helpers; its assertions are explained like those of a test."""

import pytest

pytest.register_assert_rewrite("conformance")
