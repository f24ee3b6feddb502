"""The rules made ready: one `Origin` for each scheme and authority met, with everything that depends on the host."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from dedup_lib.errors import SchemeMismatchError
from dedup_lib.urls.hosts import Scoped, rules_of_host, settle_host
from dedup_lib.urls.parameters import HostParameters, SharedParameters
from dedup_lib.urls.parser import PARSER
from dedup_lib.urls.paths import PathSessions
from dedup_lib.urls.rules import UrlRules
from dedup_lib.urls.trace import Fired

REMEMBERED_ORIGINS = 50_000
REMEMBERED_CHARS = 300  # a longer one has a long userinfo, or no host that DNS could know
LABEL_CHARS, NAME_CHARS = 63, 253  # RFC 1035, section 2.3.4, without the root label


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """What the rules say for one host, with the owner of each part where people are told of it."""

    parameters: HostParameters
    trailing_slash: str | None
    collapse_slashes: bool
    keep_hashbang: bool
    owners: dict[str, str]
    leaves_path: bool  # the path stays as it is and the key drops its trailing slash, as for most hosts


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme and authority of a canonical URL, and the policy of its host."""

    prefix: str  # such as https://example.com:8443
    authority: str  # the same without the scheme, as the key has it
    scheme_chars: int  # of the scheme with its ://
    policy: HostPolicy
    plain: bool  # the policy does nothing to paths and fragments
    refused: bool
    fired: tuple[Fired, ...]


class Policy:
    """The rules, made ready for use; made once per process by `ready`."""

    def __init__(self, rules: UrlRules) -> None:
        self.rules = rules
        self.sessions = PathSessions(rules.session_path_parameters, rules.session_path_segments)
        self._shared = SharedParameters(rules)
        self.of_most_hosts = self._host_policy([("all hosts", rules.defaults)])
        self._host_policies: dict[tuple[str, ...], HostPolicy] = {("all hosts",): self.of_most_hosts}
        self.origins: dict[str, Origin] = {}

    def origin(self, prefix: str) -> Origin:
        """The canonical origin of a URL whose scheme and authority the parser wrote as `prefix`."""
        found = self.origins.get(prefix)
        if found is None:
            if len(self.origins) >= REMEMBERED_ORIGINS:
                self.origins.clear()
            found = self._origin(prefix)
            if len(prefix) <= REMEMBERED_CHARS:
                self.origins[prefix] = found
        return found

    def _origin(self, prefix: str) -> Origin:
        scheme, _, authority = prefix.partition("://")
        _, at, authority = authority.rpartition("@")
        host, port = split_port(authority)
        fired = [Fired("userinfo", "…@", "")] if at else []
        if host.endswith("."):
            fired.append(Fired("root dot", host, host[:-1]))
            host = host[:-1]
        refused = not _is_resolvable(host)
        settled, steps = settle_host(host, self.rules) or (host, [])
        for rule, name in steps:
            owner, _, rule_name = rule.rpartition(": ")
            fired.append(Fired(rule_name, host, name, owner))
            host = name
        scoped = rules_of_host(settled, self.rules)
        policy = self._policy_of(scoped)
        if not port:
            owner, wanted = _most_specific(scoped, "scheme")
            if isinstance(wanted, str) and wanted not in {"keep", scheme}:
                fired.append(Fired("scheme", scheme, wanted, owner))
                scheme = wanted
        authority = settled + port
        plain = policy.leaves_path and not policy.keep_hashbang
        return Origin(f"{scheme}://{authority}", authority, len(scheme) + 3, policy, plain, refused, tuple(fired))

    def _policy_of(self, scoped: Scoped) -> HostPolicy:
        owners = tuple(owner for owner, _ in scoped)
        found = self._host_policies.get(owners)
        if found is None:
            found = self._host_policies[owners] = self._host_policy(scoped)
        return found

    def _host_policy(self, scoped: Scoped) -> HostPolicy:
        said = {
            key: _most_specific(scoped, key)
            for key in ("trailing_slash", "collapse_slashes", "keep_hashbang", "allow_params")
        }
        allow_owner, allow = said["allow_params"]
        parameters = HostParameters(
            self._shared,
            keep=[name for _, rule in scoped for name in rule.keep_params or ()],
            drop=[(name, owner) for owner, rule in reversed(scoped) for name in rule.drop_params or ()],
            allow=allow if isinstance(allow, tuple) else None,
            allow_scope=allow_owner,
        )
        trailing_slash, collapse = said["trailing_slash"][1], bool(said["collapse_slashes"][1])
        return HostPolicy(
            parameters,
            trailing_slash=trailing_slash if isinstance(trailing_slash, str) else None,
            collapse_slashes=collapse,
            keep_hashbang=bool(said["keep_hashbang"][1]),
            owners={key: owner for key, (owner, _) in said.items()},
            leaves_path=trailing_slash is None and not collapse,
        )


@lru_cache(maxsize=16)
def ready(rules: UrlRules) -> Policy:
    """The rules made ready, once per process.

    Raises:
        SchemeMismatchError: the rules were loaded with another version of the parser, on another machine.
    """
    if rules.parser != PARSER:
        raise SchemeMismatchError(
            "the URL parser here", PARSER, rules.parser, "install the same ada-url on the driver and on all workers"
        )
    return Policy(rules)


def _most_specific(scoped: Scoped, key: str) -> tuple[str, object]:
    for owner, rule in scoped:
        value: object = getattr(rule, key)
        if value is not None:
            return owner, value
    return "", None


def split_port(authority: str) -> tuple[str, str]:
    """The host, and the port with its colon or an empty text."""
    if authority.endswith("]"):
        return authority, ""
    host, colon, port = authority.rpartition(":")
    return (host, colon + port) if colon else (authority, "")


def _is_resolvable(host: str) -> bool:
    """Whether DNS could know the host; the parser also accepts empty and overlong labels."""
    if host.startswith("["):
        return True
    labels: Iterable[str] = host.split(".")
    return len(host) <= NAME_CHARS and all(0 < len(label) <= LABEL_CHARS for label in labels)
