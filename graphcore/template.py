"""`tf.make_template`: a function whose variables are made at the first call and shared by the others.

Source: tensorflow/python/ops/template.py (r1.15), behaviour only.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

from . import logging
from .default import GraphKeys, get_collection, get_collection_ref
from .errors import InvalidValueError
from .variable_scope import VariableScope, variable_scope


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """A callable that shares the variables which `func_` makes by `get_variable` between its calls.

    Args:
        name_: The name of the variable scope, made unique at the first call.
        func_: The function.
        create_scope_now_: Whether the scope is opened now, and not at the first call.
        unique_name_: The name of the scope as it is, not made unique.
        custom_getter_: The custom getter of the scope.
        **kwargs: Arguments that are given to `func_` at each call.

    Raises:
        ValueError: `name_` is None.
    """
    return Template(
        name_,
        functools.partial(func_, **kwargs) if kwargs else func_,
        create_scope_now_,
        unique_name_,
        custom_getter_,
    )


class Template:
    """What `make_template` gives.

    Attributes:
        name: The name that was given.
        func: The function.
        variable_scope: The scope of its variables; None before the first call.
    """

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
    ) -> None:
        if name is None:
            raise InvalidValueError("name cannot be None.")
        self.name = name
        self.func = func
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._made_at = "".join(traceback.format_stack()[:-2])
        self._variables_created = False
        self._first_call = True
        self.variable_scope: VariableScope | None = None
        if create_scope_now:
            with variable_scope(
                unique_name, name, custom_getter=custom_getter, auxiliary_name_scope=False
            ) as scope:
                self.variable_scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function in the template's variable scope.

        Raises:
            ValueError: A call after the first made a trainable variable.
        """
        if self.variable_scope is not None:
            with variable_scope(self.variable_scope, reuse=not self._first_call):
                return self._call(args, kwargs)
        with variable_scope(self._unique_name, self.name, custom_getter=self._custom_getter) as scope:
            self.variable_scope = scope
            return self._call(args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        try:
            if not self._variables_created:
                if not self._first_call:  # the function calls the template itself
                    return self.func(*args, **kwargs)
                self._first_call = False
                try:
                    result = self.func(*args, **kwargs)
                except BaseException:
                    self._first_call = True
                    raise
                self._variables_created = True
                return result
            before = [len(get_collection_ref(key)) for key in _KINDS]
            result = self.func(*args, **kwargs)
            trainable, every = [get_collection_ref(key)[count:] for key, count in zip(_KINDS, before)]
            if trainable:
                raise InvalidValueError(
                    "Trainable variable created when calling a template after the first time, perhaps you "
                    f"used tf.Variable when you meant tf.get_variable: {trainable}"
                )
            if every:
                logging.info(
                    "New variables created when calling a template after the first time, perhaps you used "
                    "tf.Variable when you meant tf.get_variable: %s",
                    every,
                )
            return result
        except Exception as error:
            text = f"{error.args[0] if error.args else ''}\n\noriginally defined at:\n{self._made_at}"
            error.args = (text, *error.args[1:])
            if hasattr(error, "message"):
                error.message = text
            raise

    @property
    def variable_scope_name(self) -> str | None:
        """The name of the variable scope, with a final slash; None before the first call."""
        if self.variable_scope is None:
            return None
        name = self.variable_scope.name
        return name if not name or name.endswith("/") else name + "/"

    @property
    def var_scope(self) -> VariableScope | None:
        """Older name of `variable_scope`."""
        return self.variable_scope

    def _of(self, key: str) -> list[Any]:
        return get_collection(key, self.variable_scope_name) if self._variables_created else []

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable variables of the scope."""
        return self._of(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def global_variables(self) -> list[Any]:
        """The global variables of the scope."""
        return self._of(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """The local variables of the scope."""
        return self._of(GraphKeys.LOCAL_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        """The global and local variables of the scope."""
        return self.global_variables + self.local_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The global variables that are not trainable."""
        trainable = {id(variable) for variable in self.trainable_variables}
        return [variable for variable in self.global_variables if id(variable) not in trainable]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


_KINDS = (GraphKeys.TRAINABLE_VARIABLES, GraphKeys.GLOBAL_VARIABLES)
