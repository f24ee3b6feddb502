"""Addresses of inputs: local paths, file://, s3:// (and s3a://), https://, http://, hdfs:// and gs://.

An address is shown and stored without its secrets. Credentials before a host are refused: they would end up in logs of
every proxy. The query of a presigned URL cannot be refused, so it travels beside the address, in `secret`, which is no
part of any text made from it.
"""

import posixpath
import re
from dataclasses import dataclass, field, replace
from urllib.parse import unquote, urlsplit

from dedup_lib.errors import UsageError

SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "https": "https", "http": "http", "hdfs": "hdfs", "gs": "gs"}
# Parameters that sign a URL: AWS (versions 4 and 2), Google, CloudFront, Azure; and the usual names of tokens.
SIGNING = re.compile(
    r"(?i)(x-amz-.*|x-goog-.*|awsaccesskeyid|googleaccessid|signature|expires|key-pair-id|policy"
    r"|sig|se|sp|sv|sr|st|spr|sip|sk\w+|.*token.*|.*secret.*|.*password.*|auth\w*|api_?key|credentials?)"
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where an object is: bucket or host in `place`, and its key, without a leading slash.

    The key of http keeps its query, but for what signs it: the whole query is in `secret` then.
    """

    scheme: str
    place: str
    key: str
    secret: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.place}/{self.key}"

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.partition("?")[0].rpartition("/")[2]

    @property
    def url(self) -> str:
        """The address as it is fetched, secrets included: never to be shown."""
        return f"{str(self).partition('?')[0]}?{self.secret}" if self.secret else str(self)

    def at(self, key: str) -> "Address":
        """Another key in the same place."""
        return Address(self.scheme, self.place, key)


def is_remote(text: str) -> bool:
    """Whether a path is an address of object storage, and not of this machine."""
    return "://" in text and not text.startswith("file://")


def local_path(text: str) -> str:
    """A local path or a file: URI (RFC 8089: its escapes are undone) as a path.

    >>> local_path("file:///data/a%20b.warc"), local_path("a%20b.warc")
    ('/data/a b.warc', 'a%20b.warc')
    """
    if not text.startswith("file:/"):
        return text
    path = unquote(text.removeprefix("file:"))
    return "/" + path.lstrip("/").removeprefix("localhost/") if path.startswith("//") else path


def parse_address(text: str, secret: str = "") -> Address:
    """The address in a text. `UsageError` for kinds of storage that are not read, and for credentials in it.

    >>> str(parse_address("s3a://bucket/a b/c?d#e"))
    's3://bucket/a b/c?d#e'
    >>> str(parse_address("https://Host/a.warc.gz?part=2&X-Amz-Signature=12ab"))
    'https://host/a.warc.gz?part=2'
    """
    kind, _, rest = text.partition("://")
    scheme = SCHEMES.get(kind.lower())
    if scheme is None:
        kinds = ", ".join(sorted(SCHEMES))
        raise UsageError(f"{shown(text)}: addresses of this kind are not read, only {kinds} and local files")
    place, _, key = rest.partition("/")
    if "@" in place or (scheme == "s3" and ":" in place):
        raise UsageError(
            f"{shown(text)}: credentials in an address are not accepted, for they would be logged: "
            "take them out, and give them in the environment (AWS_PROFILE, or AWS_ACCESS_KEY_ID and its secret)"
        )
    if not place and scheme != "hdfs":
        raise UsageError(f"{shown(text)}: the bucket or host is missing")
    if scheme not in ("https", "http"):
        return Address(scheme, place, key)
    parts = urlsplit(text)
    kept = [one for one in parts.query.split("&") if one and not SIGNING.fullmatch(one.partition("=")[0])]
    key = parts.path.removeprefix("/") + ("?" + "&".join(kept) if kept else "")
    signed = parts.query if len(kept) < len(parts.query.split("&")) and parts.query else ""
    return Address(scheme, place.partition("?")[0].lower(), key, secret or signed)


def shown(text: str) -> str:
    """A pattern of the user's without credentials, whatever it is.

    >>> shown("s3://KEY:SECRET@bucket/a"), shown("https://h/a?b=1&sig=2"), shown("a?.warc")
    ('s3://...@bucket/a', 'https://h/a?b=1', 'a?.warc')
    """
    text = re.sub(r"(?<=://)[^/]*@", "...@", text)
    text = re.sub(r"(?i)^(s3[an]?://)[^/]*:.*", r"\1...", text)  # a secret of AWS's may itself hold a slash
    if not text.lower().startswith(("http://", "https://")) or "?" not in text:
        return re.sub(r"\?\S*=.*", "?...", text) if re.match(r"\w+:/", text) else text
    return str(replace(parse_address(text.replace("...@", "")), secret=""))


def resolve_entry(entry: str, listed_in: Address) -> str:
    """The address that a line of a list means, for a list that is itself in storage.

    1. An address (with ://) is itself. 2. A line that begins with a slash is a key of the list's bucket or host.
    3. A line whose first folder is one of the folders that the list lies in is relative to the folder that holds that
    one. So are the lists of Common Crawl written, and so they can be copied, to the root of a bucket or below it.
    4. Any other line is relative to the list's own folder; `./` before a line says so where 3 would apply.

    >>> cc = parse_address("s3://commoncrawl/crawl-data/CC-MAIN-2026-05/warc.paths.gz")
    >>> resolve_entry("crawl-data/CC-MAIN-2026-05/segments/1/warc/a.warc.gz", cc)
    's3://commoncrawl/crawl-data/CC-MAIN-2026-05/segments/1/warc/a.warc.gz'
    >>> resolve_entry("a.warc.gz", cc)
    's3://commoncrawl/crawl-data/CC-MAIN-2026-05/a.warc.gz'
    """
    if "://" in entry:
        return entry
    if entry.startswith("/"):
        return str(listed_in.at(entry.lstrip("/")))
    folders = listed_in.key.partition("?")[0].split("/")[:-1]
    first = entry.partition("/")[0]
    if "/" in entry and first in folders:
        folders = folders[: len(folders) - 1 - folders[::-1].index(first)]
    key = "/".join([*folders, entry])
    if first in (".", ".."):
        key = posixpath.normpath(key)
    return str(listed_in.at(key))
