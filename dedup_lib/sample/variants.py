"""URLs that differ and name the same page: what each rule of canonicalisation undoes."""

from dedup_lib.sample.dice import Dice

RULES = ("tracking", "session", "order", "port", "slash", "scheme", "fragment")


def variant_urls(base: str, rule: str, dice: Dice) -> tuple[str, list[str]]:
    """The URL of the original and those of its variants under the rule, for an https URL without query and fragment.

    KeyError for a rule that is not in `RULES`.

    >>> variant_urls("https://news.example/story/a", "scheme", Dice("doctest"))
    ('https://news.example/story/a', ['http://news.example/story/a'])
    """
    address = base.split("://", 1)[1]
    host, path = address.split("/", 1)
    session = dice.hexadecimal(32)
    number = dice.between(1000, 9999)
    campaign = f"utm_source=newsletter&utm_medium={dice.pick(('email', 'social', 'cpc'))}&utm_campaign=spring"
    scheme, default_port = dice.pick((("https", 443), ("http", 80)))
    originals = {"order": f"{base}?id={number}&view=full", "port": f"{scheme}://{address}"}
    variants = {
        "tracking": [f"{base}?{campaign}", f"{base}?gclid={dice.hexadecimal(24)}"],
        "session": [f"{base}?PHPSESSID={session}", f"{base};jsessionid={session.upper()}"],
        "order": [f"{base}?view=full&id={number}"],
        "port": [f"{scheme}://{host}:{default_port}/{path}"],
        "slash": [f"{base}/"],
        "scheme": [f"http://{address}"],
        "fragment": [f"{base}#comments"],
    }
    return originals.get(rule, base), variants[rule]
