"""What S3 means when it refuses a request, in a sentence that says what to do."""

from collections.abc import Mapping
from typing import Any

from dedup_lib.archives.stores.addresses import Address
from dedup_lib.archives.stores.answers import failure
from dedup_lib.archives.stores.errors import ObjectChanged, StorageError, StorageUnreachable, one_line

CREDENTIALS = "check AWS_PROFILE or AWS_ACCESS_KEY_ID and its secret, or set storage.profile or storage.anonymous"

# Error codes of the API that stand for a status (Amazon S3 API Reference, Error responses).
STATUSES = {
    **dict.fromkeys(("SlowDown", "RequestLimitExceeded", "Throttling", "ThrottlingException"), 503),
    **dict.fromkeys(("TooManyRequests", "TooManyRequestsException", "ServiceUnavailable"), 503),
    **dict.fromkeys(("RequestTimeout", "InternalError", "OperationAborted"), 500),
    **{"InvalidRange": 416, "PreconditionFailed": 412},
}
REGION = {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "301", "307"}
REFUSED = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired"}
REMEDIES = {
    "RequestTimeTooSkewed": "set the clock of this machine",
    "InvalidObjectState": "it is archived, restore it first",
    "InvalidBucketName": "check the name of the bucket",
    "400": "check storage.region, storage.endpoint and the credentials (S3 says no more here)",
}


def refusal(response: Mapping[str, Any], address: Address, anonymous: bool) -> Exception:
    """The error for an answer with an error code; `EOFError` for a range behind the end.

    `ObjectChanged` comes without versions: who asked knows which one it was.
    """
    answer, found, path = response.get("ResponseMetadata", {}), response.get("Error", {}), str(address)
    code, headers = str(found.get("Code", "")), answer.get("HTTPHeaders", {})
    status = STATUSES.get(code, answer.get("HTTPStatusCode", 0))
    if status == 416:
        return EOFError(path)
    if status == 412:
        return ObjectChanged(path, "", "")
    if sentence := _sentence(code, status, found, headers, address):
        # Credentials that run out in the middle of a run say nothing of the object.
        return (StorageUnreachable if code in REFUSED else StorageError)(path, sentence)
    if code == "RequestTimeTooSkewed":
        return StorageUnreachable(path, f"{path} cannot be read ({code}): {REMEDIES[code]}")
    if status in (401, 403):
        allowed = "your credentials must allow s3:GetObject and s3:ListBucket"
        return failure(path, status, headers, "unset storage.anonymous" if anonymous else f"{allowed}, {CREDENTIALS}")
    remedy = REMEDIES.get(code, f"S3 says {code}, {one_line(found.get('Message', ''))}")
    return failure(path, status, headers, remedy)


def _sentence(
    code: str, status: int, found: Mapping[str, Any], headers: Mapping[str, str], address: Address
) -> str | None:
    if code == "NoSuchBucket":
        return f"there is no bucket {address.place}: check the name, and storage.endpoint"
    if code in REGION or status in (301, 307):
        region = found.get("Region") or headers.get("x-amz-bucket-region")
        where = f"set storage.region{f' to {region}' if region else ''}"
        return f"the bucket {address.place} is in another region ({code}): {where}"
    if code in REFUSED:
        return f"the credentials for {address} are refused ({code}): renew or correct them, {CREDENTIALS}"
    return None
