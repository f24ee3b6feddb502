"""Labels of charsets, as the web writes them, to the Python codecs that read what is sent under them."""

import codecs
import re

# Labels to the wider Python codec that reads what is really sent under them (WHATWG Encoding Standard, section 4.2,
# with its supersets): browsers read latin-1 as cp1252, Korean KS X 1001 as cp949, and so on.
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "euc_kr": "cp949",
    "johab": "johab",
    "ks_c_5601-1987": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "hz",
}
# Labels of the WHATWG table and of the detector that Python's codecs do not know.
_ALIASES = {
    "windows-874": "cp874",
    "dos-874": "cp874",
    "windows-949": "cp949",
    "windows-31j": "cp932",
    "x-sjis": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "x-mac-cyrillic": "mac_cyrillic",
    "maccyrillic": "mac_cyrillic",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "big5-hkscs": "big5hkscs",
    "x-x-big5": "big5hkscs",
    "euc-tw": "big5hkscs",
    "unicode": "utf-16-le",
    "utf-16": "utf-16-le",
    "utf8mb4": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
    "sun_eu_greek": "iso8859-7",
    "visual": "iso8859-8",
    "logical": "iso8859-8",
    "csisolatin9": "iso8859-15",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "mac": "mac_roman",
    "csmacintosh": "mac_roman",
    "x-mac-ukrainian": "mac_cyrillic",
    "csgb2312": "gb18030",
    "gb_2312": "gb18030",
    "cn-big5": "big5hkscs",
    "cseucpkdfmtjapanese": "euc_jp",
    "cseuckr": "cp949",
    "csksc56011987": "cp949",
    "iso-ir-149": "cp949",
    "ks_c_5601-1989": "cp949",
    "ksc_5601": "cp949",
}
_ISO_8859 = re.compile(
    r"(?:cs)?iso[-_]?8859[-_]?(\d{1,2})[-_]?[ei]?$"
)  # with every dash or none; -e, -i: writing order


def codec_of(label: str | None) -> str | None:
    """The Python codec for a charset label as found on the web, or None if there is none that decodes text.

    >>> codec_of("ISO-8859-1"), codec_of('"euc-kr"'), codec_of("none")
    ('cp1252', 'cp949', None)
    """
    if not label:
        return None
    name = label.strip(" \t\r\n\"';,").lower()
    name = _ISO_8859.sub(r"iso8859-\1", name)
    name = _ALIASES.get(name) or _ALIASES.get(name.removeprefix("x-"), name)
    try:
        found = codecs.lookup(name) if name.isascii() and "\0" not in name else None
    except LookupError:
        found = None
        if name.startswith("x-"):
            return codec_of(name[2:])
    # `_is_text_encoding` keeps out rot13, hex, zlib and the like, which are not charsets
    if found is None or not found._is_text_encoding or found.name in {"idna", "punycode", "undefined", "utf-7"}:
        return None
    return _WIDER.get(found.name, found.name)
