"""Calling a registered factory with a user's options, and checking its result."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from lifelong_co.errors import ConfigError, PluginError, UnknownNameError
from lifelong_co.validators import number, too_large

UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
STATE = ("state_dict", "load_state_dict")
POSITIONAL: Mapping[str, int] = {"solver": 1, "buffer": 2, "objective": 1, "distribution": 1}
"""The number of arguments that `lookup` gives a factory by position, by kind."""
# What an option annotated so takes, in words; the factory checks any other annotation.
PLAIN = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


def make(label: str, factory: Callable[..., Any], /, *given: Any, **options: Any) -> Any:
    """Return ``factory(*given, **options)``.

    Parameters
    ----------
    label
        The thing that is made, e.g. ``solver 'pomo'``; errors begin with it.
    factory
        Takes ``given`` by position and the options by name.

    Raises
    ------
    ConfigError
        If an option is unknown to the factory, if a required option is missing, or if an option
        annotated as ``int``, ``float``, ``str`` or ``bool`` gets a value of another type, or if a
        whole number has too many bits.
    """
    signature = signature_of(factory)
    if signature is None:
        return factory(*given, **options)
    options = {name: number(value) for name, value in options.items()}
    named = _options(signature, len(given))
    for option in options:
        if named == []:
            raise ConfigError(f"{label}: takes no options, got {option!r}")
        if named is not None and option not in named:
            message = UnknownNameError("option", option, named).message
            raise ConfigError(f"{label}: {message}")
    try:
        signature.bind(*given, **options)
    except TypeError as error:
        raise ConfigError(f"{label}: {error}") from error
    for option, value in options.items():
        _check_type(label, signature.parameters.get(option), value)
        if reason := too_large(value):
            raise ConfigError(f"{label}: {option}: {reason}")
    try:
        return factory(*given, **options)
    except TypeError as error:
        # Behind **options the refusal comes from whatever they were handed on to. Any other
        # TypeError is a bug in the factory and must be seen as one.
        refused = UNEXPECTED.search(str(error))
        if named is not None or refused is None or refused[1] not in options:
            raise
        raise ConfigError(f"{label}: unknown option {refused[1]!r} ({error})") from error


def defaults(kind: str, factory: Callable[..., Any]) -> dict[str, Any]:
    """Return the default values of a factory's options; {} if it has no readable signature."""
    signature = signature_of(factory)
    if signature is None:
        return {}
    options = by_name(signature, POSITIONAL.get(kind, 0))
    usual = {name: signature.parameters[name].default for name in options}
    return {name: value for name, value in usual.items() if value is not inspect.Parameter.empty}


def option_names(factory: Callable[..., Any]) -> list[str] | None:
    """Return the names of all options of a factory; None if it may take any name."""
    signature = signature_of(factory)
    return None if signature is None else _options(signature, 0)


def _options(signature: inspect.Signature, given: int) -> list[str] | None:
    """Return the names of the options after ``given`` positional ones; None: any name."""
    parameters = signature.parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return by_name(signature, given)


def by_name(signature: inspect.Signature, given: int) -> list[str]:
    """Return the parameters that can be given by name, after ``given`` positional ones."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        parameter.name
        for index, parameter in enumerate(signature.parameters.values())
        if parameter.kind in named and (index >= given or parameter.kind is parameter.KEYWORD_ONLY)
    ]


def _check_type(label: str, parameter: inspect.Parameter | None, value: Any) -> None:
    """Refuse a value of another type than the plain annotated one; a float can be an int, too."""
    kind = parameter.annotation if parameter is not None else None
    for plain, words in PLAIN.items():
        if parameter is None or kind not in (plain, plain.__name__):
            continue
        accepted = (int, float) if plain is float else (plain,)
        if not isinstance(value, accepted) or (isinstance(value, bool) and plain is not bool):
            raise ConfigError(f"{label}: {parameter.name}: expected {words}, got {value!r}")


def check(label: str, thing: object, protocol: type) -> None:
    """Refuse an object that lacks a public member of its protocol, or a parameter of a method.

    Presence is checked with `hasattr`: ``isinstance`` on a protocol does not see the
    submodules of a ``torch.nn.Module``.

    Raises
    ------
    PluginError
        If members are missing, or if a method cannot be called as that of the protocol, or as in
        `check_functions`; the message names them.
    """
    members = dict.fromkeys((*inspect.get_annotations(protocol), *vars(protocol)))
    missing = [
        member for member in members if not member.startswith("_") and not hasattr(thing, member)
    ]
    if missing:
        raise PluginError(
            f"{label}: expected {named(protocol)}, got {type(thing).__name__} "
            f"without {', '.join(missing)}"
        )
    for member in members:
        contract = vars(protocol).get(member)
        if member.startswith("_") or not inspect.isfunction(contract):
            continue
        wanted, own = inspect.signature(contract), signature_of(getattr(thing, member))
        if own is not None and not _can_be_called(own, wanted):
            raise PluginError(
                f"{label}: expected {member}({_in_words(wanted)}), got {member}({_in_words(own)})"
            )
    if attrs.has(protocol):
        check_functions(label, thing, protocol)


def check_functions(label: str, thing: object, protocol: type) -> None:
    """Refuse a field that should be a function and is none, and a state that is lost in a resume.

    The state is lost if one function of `STATE` is given, and the other one does nothing.

    Raises
    ------
    PluginError
        The message names the field.
    """
    usual = {field.name: field.default for field in attrs.fields(protocol)}
    for name, default in usual.items():
        value = getattr(thing, name)
        if (default is attrs.NOTHING or callable(default)) and not callable(value):
            raise PluginError(f"{label}: expected a function as {name}, got {value!r:.80}")
    given = [name for name in STATE if name in usual and getattr(thing, name) is not usual[name]]
    if len(given) == 1:
        (absent,) = set(STATE) - set(given)
        raise PluginError(
            f"{label}: expected {given[0]} together with {absent}, got no {absent}; a resumed run"
            " would lose its state"
        )


def named(protocol: type) -> str:
    """Return the name of a protocol with its article, e.g. ``an Objective``."""
    return f"{'an' if protocol.__name__[0] in 'AEIOU' else 'a'} {protocol.__name__}"


def signature_of(function: Any) -> inspect.Signature | None:
    """Return the signature of a factory or a method; None if it has no readable one."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # not callable, or some builtins
        return None


def _can_be_called(own: inspect.Signature, wanted: inspect.Signature) -> bool:
    """Return whether a bound method takes what the function of a protocol takes after ``self``."""
    _, *after = wanted.parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in after):
        return True  # what it takes depends on the object
    named = {p.name: None for p in after if p.kind is p.KEYWORD_ONLY}
    try:
        own.bind(*[None] * (len(after) - len(named)), **named)
    except TypeError:
        return False
    return True


def _in_words(signature: inspect.Signature) -> str:
    """Return the names of parameters as they are written, without ``self``."""
    plain = [
        p.replace(annotation=p.empty, default=p.empty)
        for p in signature.parameters.values()
        if p.name != "self"
    ]
    return str(inspect.Signature(plain))[1:-1]
