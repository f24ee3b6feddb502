"""Global dedup in plain Python, written from the definition: every pair is compared, nothing is hashed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from signatures.reference import jaccard, reference_shingles, reference_words

from .global_store import Page
from .rows import content_hash

Place = tuple[str, str]  # snapshot, name


@dataclass(frozen=True)
class Fate:
    reason: str
    duplicate_of: str | None
    representative: str
    cluster: str


@dataclass
class Model:
    """The global version after each update with all the snapshots of the store, in their order."""

    threshold: float = 0.8
    fates: dict[Place, Fate] = field(default_factory=dict)
    contents: dict[Place, bytes] = field(default_factory=dict)
    order: dict[Place, int] = field(default_factory=dict)
    texts: dict[Place, str] = field(default_factory=dict)

    def update(self, snapshots: Mapping[str, Sequence[Page]]) -> dict[str, tuple]:
        """SNAPSHOT:NAME -> (reason, duplicate_of, representative, cluster)."""
        pages = [(snapshot, page) for snapshot, listed in snapshots.items() for page in listed]
        self.texts = {(snapshot, page.name): page.text for snapshot, page in pages}
        self.order = {place: number for number, place in enumerate(self.texts)}
        contents = {place: content_hash(text) for place, text in self.texts.items()}
        before = {place: fate for place, fate in self.fates.items() if fate.reason != "url"}
        stays = {place for place in before if contents.get(place) == self.contents[place]}
        broken = {fate.cluster for place, fate in before.items() if place not in stays}
        self.contents = contents
        self.fates = {place: before[place] for place in stays if before[place].cluster not in broken}
        for cluster in broken:
            self._mend(cluster, {place: before[place] for place in stays if before[place].cluster == cluster})
        self._add([place for place in self.texts if place not in self.fates])
        return {
            f"{snapshot}:{name}": (fate.reason, fate.duplicate_of, fate.representative, fate.cluster)
            for (snapshot, name), fate in self.fates.items()
        }

    def _mend(self, cluster: str, members: dict[Place, Fate]) -> None:
        """A cluster that lost members: who stays in it, and under whom."""
        if not members:
            return
        head = next((place for place, fate in members.items() if fate.reason == "kept"), None)
        took_over = head is None
        head = head or min(members, key=self.order.__getitem__)
        groups: dict[bytes, list[Place]] = {}
        for place in sorted(members, key=lambda one: (members[one].reason != "near", self.order[one])):
            groups.setdefault(self.contents[place], []).append(place)
        for content, places in groups.items():
            if took_over:
                places.sort(key=self.order.__getitem__)
            if content != self.contents[head] and took_over and not self._similar(head, places[0]):
                continue
            first = head if content == self.contents[head] else places[0]
            for place in places:
                fate = Fate("exact", first[1], head[1], cluster)
                if place == head:
                    fate = Fate("kept", None, head[1], cluster)
                elif place == first:
                    fate = Fate("near", head[1], head[1], cluster)
                self.fates[place] = fate

    def _add(self, places: list[Place]) -> None:
        """The greedy over what is new, behind all anchors."""
        settled = {name: fate for (_, name), fate in self.fates.items()}
        first_of = {self.contents[place]: place for place, fate in self.fates.items() if fate.reason != "exact"}
        anchors = sorted(
            (place for place, fate in self.fates.items() if fate.reason == "kept"), key=self.order.__getitem__
        )
        used = {fate.cluster for fate in self.fates.values()}
        for place in sorted(places, key=self.order.__getitem__):
            name = place[1]
            if name in settled:
                self.fates[place] = replace(settled[name], reason="url", duplicate_of=name)
                continue
            first = first_of.setdefault(self.contents[place], place)
            if first != place:
                led = self.fates[first]
                fate = Fate("exact", first[1], led.representative, led.cluster)
            elif anchor := next((one for one in anchors if self._similar(one, place)), None):
                fate = Fate("near", anchor[1], anchor[1], self.fates[anchor].cluster)
            else:
                fate = Fate("kept", None, name, name if name not in used else f"again {name}")
                anchors.append(place)
            self.fates[place] = settled[name] = fate

    def _similar(self, left: Place, right: Place) -> bool:
        if min(len(reference_words(self.texts[one])) for one in (left, right)) < 5:
            return False
        sets = [reference_shingles(self.texts[one]) for one in (left, right)]
        return jaccard(*sets) >= self.threshold
