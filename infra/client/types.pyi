"""Bodies, answers and query parameters of the operations.

Written by `make docs` from the declarations of the service; do not edit.
"""

from typing import Any, Literal, TypedDict

from typing_extensions import Required

class Above(TypedDict, total=False):
    altitude: float | None
    attribute: str | None
    telemetry: AltitudeColumn | None
    field_of_view: float | None
    tilt: float
    altitude_error: float
    field_of_view_error: float
    tilt_error: float
class AcceptSpec(TypedDict):
    registration_token: str
class AccessToken(TypedDict, total=False):
    id: Required[int]
    user: Required[int]
    name: Required[str]
    projects: list[int] | None
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"]
    operations: list[str]
    networks: list[str]
    created_datetime: Required[str]
    expires_datetime: Required[str]
    used_on: str | None
class AccessTokenCreated(TypedDict):
    message: str
    id: int
    token: str
    object: AccessToken
class AccessTokenSpec(TypedDict, total=False):
    name: Required[str]
    projects: list[int] | None
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"] | None
    operations: list[str] | None
    networks: list[str] | None
    expires_datetime: str | None
class AccessTokenUpdate(TypedDict, total=False):
    name: str | None
    projects: list[int] | None
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"] | None
    operations: list[str] | None
    networks: list[str] | None
    expires_datetime: str | None
class AccumulationRow(TypedDict):
    samples: int
    labels: float
    chao2: float | None
class Added(TypedDict, total=False):
    type: Required[Literal["Added"]]
    name: Required[str]
    value: Any
class Affiliation(TypedDict, total=False):
    id: Required[int]
    organization: Required[int]
    user: Required[int]
    permission: Required[Literal["Admin", "Member"]]
    username: str | None
    first_name: str | None
    last_name: str | None
    email: str | None
class AffiliationSpec(TypedDict):
    user: int
    permission: Literal["Admin", "Member"]
class AffiliationUpdate(TypedDict, total=False):
    permission: Literal["Admin", "Member"] | None
class Algorithm(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    user: Required[int]
    description: str
    manifest: str | None
    cluster: int | None
    files_per_job: Required[int]
    categories: list[str]
    parameters: list[AlgorithmParameter]
    template: int | None
    tparams: list[Parameter]
    rendered: str | None
    extended_info: dict[str, Any]
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"]
    effective_permission: int
class AlgorithmManifest(TypedDict):
    url: str
class AlgorithmManifestSpec(TypedDict):
    name: str
    upload_url: str
class AlgorithmParameter(TypedDict):
    name: str
    value: str | int | float
class AlgorithmSpec(TypedDict, total=False):
    name: Required[str]
    user: Required[int]
    description: str | None
    manifest: str | None
    cluster: int | None
    files_per_job: Required[int]
    categories: list[str] | None
    parameters: list[AlgorithmParameter] | None
    template: int | None
    tparams: list[Parameter] | None
    headers: list[Parameter] | None
    extended_info: dict[str, Any] | None
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"] | None
class AlgorithmUpdateSpec(TypedDict, total=False):
    name: str | None
    user: int | None
    description: str | None
    manifest: str | None
    cluster: int | None
    files_per_job: int | None
    categories: list[str] | None
    parameters: list[AlgorithmParameter] | None
    template: int | None
    tparams: list[Parameter] | None
    headers: list[Parameter] | None
    extended_info: dict[str, Any] | None
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"] | None
class AltitudeColumn(TypedDict, total=False):
    file: Required[str]
    column: Required[str]
    time: str
    start: str | None
    join: Literal["nearest", "preceding"]
    tolerance: float | None
class AnnotateSpec(TypedDict, total=False):
    annotator: Required[int]
    version: int | None
    media_ids: list[int] | None
    media_query: str | None
    every: int
    start: int
    stop: int | None
    localization_ids: list[int] | None
    success_email_spec: EmailSpec | None
    failure_email_spec: EmailSpec | None
class AnnotationDeleted(TypedDict, total=False):
    message: Required[str]
    id: Required[int]
    change: int | None
class Annotator(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    url: str | None
    convention: Literal["label-studio", "limn", "nuclio"]
    algorithm: str | None
    type: Required[int]
    label_attribute: str | None
    confidence_attribute: str | None
    kind: Literal["detector", "embedder", "interactor", "tracker"]
    prompts: list[str] | None
    track_type: int | None
    model_version: str | None
    model_attribute: str | None
    embedding_attribute: str | None
    drafts: int | None
    effective_permission: int
class AnnotatorSpec(TypedDict, total=False):
    name: Required[str]
    url: str | None
    convention: Literal["label-studio", "limn", "nuclio"] | None
    headers: list[Parameter] | None
    algorithm: str | None
    type: Required[int]
    label_attribute: str | None
    confidence_attribute: str | None
    kind: Literal["detector", "embedder", "interactor", "tracker"] | None
    prompts: list[Literal["box", "points"]] | None
    track_type: int | None
    model_version: str | None
    model_attribute: str | None
    embedding_attribute: str | None
    drafts: int | None
class AnnotatorUpdate(TypedDict, total=False):
    name: str | None
    url: str | None
    convention: Literal["label-studio", "limn", "nuclio"] | None
    headers: list[Parameter] | None
    algorithm: str | None
    type: int | None
    label_attribute: str | None
    confidence_attribute: str | None
    kind: Literal["detector", "embedder", "interactor", "tracker"] | None
    prompts: list[Literal["box", "points"]] | None
    track_type: int | None
    model_version: str | None
    model_attribute: str | None
    embedding_attribute: str | None
    drafts: int | None
class Announcement(TypedDict, total=False):
    id: Required[int]
    subject: str
    markdown: Required[str]
    created_datetime: Required[str]
    eol_datetime: Required[str]
class Applet(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    description: str
    html_file: str | None
    categories: list[str]
    template: int | None
    tparams: list[Parameter]
    rendered: str | None
    created_datetime: Required[str]
    effective_permission: int
class AppletSpec(TypedDict, total=False):
    name: Required[str]
    description: str | None
    html_file: str | None
    categories: list[str] | None
    template: int | None
    tparams: list[Parameter] | None
    headers: list[Parameter] | None
class ArchiveConfig(TypedDict, total=False):
    encode: Required[EncodeConfig]
    name: str | None
    s3_storage: S3StorageConfig | None
class AttributeCombinatorSpec(TypedDict, total=False):
    method: Literal["and", "not", "or"] | None
    operations: list[Any] | None
class AttributeFilterSpec(TypedDict, total=False):
    attribute: str | None
    operation: Literal["date_eq", "date_gt", "date_gte", "date_lt", "date_lte", "date_range", "distance_lte", "eq", "gt", "gte", "icontains", "iendswidth", "in", "isnull", "istartswith", "lt", "lte", "polygon", "search"] | None
    inverse: bool
    value: Any
class AttributeOperationSpec(TypedDict, total=False):
    method: Literal["and", "not", "or"] | None
    operations: list[Any] | None
    attribute: str | None
    operation: Literal["date_eq", "date_gt", "date_gte", "date_lt", "date_lte", "date_range", "distance_lte", "eq", "gt", "gte", "icontains", "iendswidth", "in", "isnull", "istartswith", "lt", "lte", "polygon", "search"] | None
    inverse: bool
    value: Any
class AttributeType(TypedDict, total=False):
    name: Required[str]
    dtype: Required[Literal["blob", "bool", "datetime", "enum", "float", "float_array", "geopos", "int", "string"]]
    description: str
    required: bool
    order: int
    default: Any
    minimum: float | None
    maximum: float | None
    choices: list[str] | None
    labels: list[str] | None
    size: int | None
    use_current: bool | None
    autocomplete: AutocompleteService | None
    style: str | None
    visible: bool | None
class AttributeTypeChange(TypedDict, total=False):
    name: str | None
    dtype: Literal["blob", "bool", "datetime", "enum", "float", "float_array", "geopos", "int", "string"] | None
    description: str | None
    required: bool | None
    order: int | None
    default: Any
    minimum: float | None
    maximum: float | None
    choices: list[str] | None
    labels: list[str] | None
    size: int | None
    use_current: bool | None
    autocomplete: AutocompleteService | None
    style: str | None
    visible: bool | None
class AttributeTypeDelete(TypedDict):
    entity_type: Literal["FileType", "LeafType", "LocalizationType", "MediaType", "Section", "StateType"]
    name: str
class AttributeTypeSpec(TypedDict):
    entity_type: Literal["FileType", "LeafType", "LocalizationType", "MediaType", "Section", "StateType"]
    addition: AttributeType
AttributeTypeUpdate = TypedDict("AttributeTypeUpdate", {'entity_type': Literal["FileType", "LeafType", "LocalizationType", "MediaType", "Section", "StateType"], 'current_name': str, 'attribute_type_update': AttributeTypeChange, 'global': Literal["false", "true"] | bool, 'force': bool, 'max_instances': int | None, 'new_attribute_type': AttributeTypeChange}, total=False)
class AudioDefinition(TypedDict, total=False):
    path: Required[str]
    codec: Required[str]
    size: int | None
    bit_rate: int | None
    host: str | None
    http_auth: str | None
    codec_mime: str | None
    codec_description: str | None
    bucket_id: int | None
class AuditEntry(TypedDict, total=False):
    number: Required[int]
    created_datetime: Required[str]
    kind: Required[Literal["account", "checkpoint", "deletion", "download", "export", "membership", "policy", "refusal", "share", "sign-in", "token"]]
    operation: Required[str]
    status: Required[int]
    user: int | None
    username: str | None
    credential: str | None
    network_address: str | None
    project: int | None
    target: str | None
    members: list[str] | None
    values: dict[str, Any] | None
    repeats: int | None
    salt: str | None
    digests: dict[str, str] | None
    erased_datetime: str | None
    previous: Required[str]
    hash: str
class AutocompleteService(TypedDict, total=False):
    serviceUrl: str | None
    match_any: bool
    mode: Literal["tator", "worms"]
    minLevel: int | None
    useCommon: bool | None
class AuxiliaryFileDefinition(TypedDict, total=False):
    path: Required[str]
    name: str | None
    size: int | None
    host: str | None
    http_auth: str | None
    mime: str | None
    bucket_id: int | None
class BadRequestResponse(TypedDict):
    message: str
    details: str
class Bookmark(TypedDict):
    id: int
    project: int
    user: int
    name: str
    uri: str
class BookmarkSpec(TypedDict):
    name: str
    uri: str
class BookmarkUpdate(TypedDict, total=False):
    name: str | None
    uri: str | None
class Box(TypedDict, total=False):
    x: Required[float]
    y: Required[float]
    width: Required[float]
    height: Required[float]
    label: str | None
    confidence: float | None
class Bucket(TypedDict, total=False):
    id: Required[int]
    organization: Required[int]
    name: Required[str]
    store_type: Literal["AWS", "AZURE", "GCP", "MINIO", "OCI", "S3BASIC", "VAST"]
    endpoint_url: str | None
    region: str | None
    access_key: str | None
    live_sc: Literal["COLDLINE", "DEEP_ARCHIVE", "STANDARD"]
    archive_sc: Literal["COLDLINE", "DEEP_ARCHIVE", "STANDARD"]
    external_host: str | None
    effective_permission: int
class BucketAzureConfig(TypedDict):
    connection_string: str
class BucketGCPConfig(TypedDict):
    type: str
    project_id: str
    private_key_id: str
    private_key: str
    client_email: str
    client_id: str
    auth_uri: str
    token_uri: str
    auth_provider_x509_cert_url: str
    client_x509_cert_url: str
class BucketOCIConfig(TypedDict):
    boto3_config: BucketS3Config
    native_config: BucketOCINativeConfig
class BucketOCINativeConfig(TypedDict):
    user: str
    key_content: str
    fingerprint: str
    tenancy: str
    region: str
class BucketObject(TypedDict, total=False):
    path: Required[str]
    bucket_id: Required[int]
    size: Required[int]
    etag: Required[str]
    last_modified: Required[str]
    state: Required[Literal["changed", "missing", "present"]]
    changed_datetime: str | None
    missing_datetime: str | None
    frame_table: str | None
    message: str | None
class BucketS3Config(TypedDict):
    aws_access_key_id: str
    aws_secret_access_key: str
    endpoint_url: str
    region_name: str
class BucketSource(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    bucket: Required[int]
    prefix: Required[str]
    media_types: Required[list[ExtensionType]]
    section: int | None
    pattern: str
    listing_hours: int
    created_by: Required[int]
    created_datetime: Required[str]
    status: Literal["failed", "listed", "listing"]
    message: str
    listed_datetime: str | None
    objects: int
    skipped: int
    created: int
    changed: int
    missing: int
    missing_media: list[int]
    effective_permission: int
class BucketSourceSpec(TypedDict, total=False):
    name: Required[str]
    media_types: Required[list[ExtensionType]]
    section: int | None
    pattern: str | None
    listing_hours: int | None
    list_now: bool | None
    bucket: Required[int]
    prefix: Required[str]
class BucketSourceUpdate(TypedDict, total=False):
    name: str | None
    media_types: list[ExtensionType] | None
    section: int | None
    pattern: str | None
    listing_hours: int | None
    list_now: bool | None
class BucketSpec(TypedDict, total=False):
    name: Required[str]
    access_key: str | None
    secret_key: str | None
    endpoint_url: str | None
    region: str | None
    gcs_key_info: str | None
    store_type: Literal["AWS", "AZURE", "GCP", "MINIO", "OCI", "S3BASIC", "VAST"] | None
    config: dict[str, Any] | None
    live_sc: Literal["COLDLINE", "DEEP_ARCHIVE", "STANDARD"] | None
    archive_sc: Literal["COLDLINE", "DEEP_ARCHIVE", "STANDARD"] | None
    external_host: str | None
class BucketUpdate(TypedDict, total=False):
    name: str | None
    access_key: str | None
    secret_key: str | None
    endpoint_url: str | None
    region: str | None
    gcs_key_info: str | None
    store_type: Literal["AWS", "AZURE", "GCP", "MINIO", "OCI", "S3BASIC", "VAST"] | None
    config: dict[str, Any] | None
    live_sc: Literal["COLDLINE", "DEEP_ARCHIVE", "STANDARD"] | None
    archive_sc: Literal["COLDLINE", "DEEP_ARCHIVE", "STANDARD"] | None
    external_host: str | None
class ChangeLog(TypedDict):
    id: int
    project: int
    user: int | None
    modified_datetime: str
    description_of_change: ChangeLogDescriptionOfChange
    change: int
class ChangeLogDescriptionOfChange(TypedDict):
    old: list[ChangeLogDescriptionOfChangeNew]
    new: list[ChangeLogDescriptionOfChangeNew]
class ChangeLogDescriptionOfChangeNew(TypedDict):
    name: str
    value: Any
class ChecklistItem(TypedDict, total=False):
    text: Required[str]
    done: bool
class ClassTarget(TypedDict, total=False):
    type: int | None
    attributes: dict[str, Any]
    skip: bool
class Classes(TypedDict, total=False):
    attribute: str | None
    rename: dict[str, str | None] | None
    order: list[str] | None
class ClipOrder(TypedDict, total=False):
    media: Required[int]
    path: Required[str]
    segment_info: Required[str]
    frame_table: str
    ranges: Required[list[list[Any]]]
    fps: float
    reencode: bool
    parts: list[int]
    quality: int | None
class CloneMediaSpec(TypedDict, total=False):
    dest_project: Required[int]
    dest_type: Required[int]
    dest_section: str | None
    dest_section_id: int | None
class CodeSpec(TypedDict, total=False):
    code: str | None
    passkey: PasskeyProof | None
class ColorMap(TypedDict, total=False):
    default: Any
    default_fill: Fill | None
    key: str | None
    map: dict[str, Any] | None
    fill_map: dict[str, Fill | None] | None
    alpha_ranges: dict[str, list[Any]] | None
    version: dict[str, Any] | None
    defaultFill: Fill | None
class Comment(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    text: Required[str]
    media_id: Required[int]
    frame: int | None
    end_frame: int | None
    region: Region | None
    localization_id: int | None
    state_id: int | None
    parent: int | None
    resolved: bool
    resolved_by: int | None
    mentions: list[int]
    created_by: Required[int]
    created_datetime: Required[str]
    modified_by: Required[int]
    modified_datetime: Required[str]
class CommentSpec(TypedDict, total=False):
    text: Required[str]
    media_id: int | None
    frame: int | None
    end_frame: int | None
    region: Region | None
    localization_id: int | None
    state_id: int | None
    parent: int | None
    resolved: bool
class CommentUpdate(TypedDict, total=False):
    text: str
    resolved: bool
class Comparison(TypedDict):
    base: str
    other: str
    media: Difference
    localizations: Difference
    states: Difference
class ConcatDefinition(TypedDict, total=False):
    id: Required[int]
    timestampOffset: float
class ConsensusLayer(TypedDict, total=False):
    uid: Required[str]
    id: Required[str]
    project: Required[int]
    status: Literal["failed", "pending", "running", "succeeded"]
    message: str
    created_datetime: Required[str]
    spec: Required[ConsensusLayerSpec]
    versions: Required[list[int]]
    version: Required[int]
    kept: int
    dropped: int
    undecided: int
    skipped: int
    review_tasks: int
    conflicts: list[Undecided]
class ConsensusLayerCreated(TypedDict):
    message: str
    id: str
    uid: str
class ConsensusLayerSpec(TypedDict, total=False):
    name: Required[str]
    tasks: str | None
    versions: list[int] | None
    report: str | None
    by_person: bool
    agreement: float
    review: bool
    class_attribute: str | None
    iou: float
    distance: float
    media_ids: list[int] | None
    query: str | None
class Conventions(TypedDict, total=False):
    task: Literal["detect", "obb", "pose", "segment"]
    first_pixel: Literal[0, 1]
class CreateListResponse(TypedDict, total=False):
    message: Required[str]
    id: Required[list[int | str]]
    object: list[dict[str, Any]] | None
class CreateResponse(TypedDict, total=False):
    message: Required[str]
    id: Required[int | str]
    object: dict[str, Any] | None
class Credentials(TypedDict, total=False):
    username: Required[str]
    password: Required[str]
    refresh: bool
    unlock_token: str | None
    name: str
    code: str | None
    passkey: PasskeyProof | None
class DamagedFrames(TypedDict, total=False):
    count: Required[int]
    spans: Required[list[list[int]]]
    missing_ends: list[Literal["end", "start"]]
class Dataset(TypedDict, total=False):
    uid: Required[str]
    id: Required[str]
    project: Required[int]
    user: Required[int]
    name: Required[str]
    description: Required[str]
    status: Required[Literal["failed", "pending", "running", "succeeded"]]
    message: Required[str]
    created_datetime: Required[str]
    seq: Required[int]
    selection: dict[str, Any] | None
    progress: Required[JobProgress]
    media: Required[int]
    labels: Required[int]
    size: Required[int]
class DatasetCreated(TypedDict):
    message: str
    id: str
    uid: str
class DatasetRow(TypedDict, total=False):
    id: Required[int]
    media: Required[int]
    elemental_id: Required[str]
    type: str
    kind: str | None
    association: str | None
    frame: int | None
    x: float | None
    y: float | None
    width: float | None
    height: float | None
    u: float | None
    v: float | None
    points: list[list[float]] | None
    refined: dict[str, Any] | None
    class_name: str
    track: str | None
    key: str | None
    version: str
    attributes: dict[str, Any]
class DatasetSpec(TypedDict, total=False):
    localizations: LocalizationSelection | None
    states: StateSelection | None
    media: MediaSelection | None
    sections: list[int] | None
    versions: list[int] | None
    seq: int | None
    name: Required[str]
    description: str
class Delivery(TypedDict, total=False):
    page: str
    time: Required[str]
    project: Required[int]
    event: Required[str]
    type: Required[str]
    attempt: Required[int]
    status: int | None
    milliseconds: int
    excerpt: str
    next_attempt: str | None
class DepthRow(TypedDict):
    depth: float
    seconds: float
    media: int
class DeviceAnswer(TypedDict, total=False):
    name: str | None
    projects: list[int] | None
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"] | None
    operations: list[str] | None
    networks: list[str] | None
    expires_datetime: str | None
    user_code: Required[str]
    decision: Required[Literal["approve", "deny"]]
class DeviceCodes(TypedDict):
    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int
class DeviceSignIn(TypedDict, total=False):
    name: Required[str]
    projects: list[int] | None
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"]
    operations: list[str]
    network_address: Required[str]
    created_datetime: Required[str]
    expires_datetime: Required[str]
class DeviceSignInSpec(TypedDict, total=False):
    name: Required[str]
    projects: list[int] | None
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"]
    operations: list[str]
class DeviceToken(TypedDict, total=False):
    access_token: Required[str]
    token_type: Literal["Token"]
    expires_in: Required[int]
    id: Required[int]
class DeviceTokenSpec(TypedDict):
    device_code: str
class Difference(TypedDict):
    added: int
    changed: int
    removed: int
    added_ids: list[int]
    changed_ids: list[int]
    removed_ids: list[int]
class DownloadInfo(TypedDict):
    key: str
    url: str
class DownloadInfoSpec(TypedDict):
    keys: list[str]
class DraftsReviewed(TypedDict, total=False):
    message: Required[str]
    localizations: Required[int]
    states: Required[int]
    change: int | None
class DraftsSpec(TypedDict, total=False):
    decision: Required[Literal["accept", "reject"]]
    version: int | None
    ids: list[int] | None
    state_ids: list[int] | None
    media_ids: list[int] | None
    frames: list[int] | None
    labels: list[str] | None
    least: float | None
    most: float | None
    is_all: bool
class DroppedMember(TypedDict):
    name: str
    rows: int
class EmailAttachmentSpec(TypedDict):
    key: str
    name: str
class EmailSpec(TypedDict, total=False):
    recipients: Required[list[str]]
    subject: Required[str]
    text: Required[str]
    attachments: list[EmailAttachmentSpec] | None
class EmbedSpec(TypedDict, total=False):
    annotator: Required[int]
    version: int | None
    media_ids: list[int] | None
    media_query: str | None
    anew: bool
    success_email_spec: EmailSpec | None
    failure_email_spec: EmailSpec | None
class EmbeddingsSpec(TypedDict):
    annotator: int
    localization_ids: list[int]
class EncodeConfig(TypedDict, total=False):
    vcodec: Literal["copy", "h264", "hevc"]
    crf: int
    preset: Literal["fast", "faster", "medium", "slow", "slower", "superfast", "ultrafast", "veryfast", "veryslow"]
    tune: Literal["animation", "fastdecode", "film", "grain", "psnr", "ssim", "stillimage", "zerolatency"]
    movflags: str
    pixel_format: Literal["yuv420p", "yuv420p10le", "yuv422p", "yuv422p10le", "yuv444p", "yuv444p10le", "yuvj420p", "yuvj422p", "yuvj444p"]
class Entities(TypedDict, total=False):
    type: Required[Literal["entities"]]
    media: list[int]
    files: list[int]
class EntityIdQuery(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    state_ids: list[int] | None
    frame_state_ids: list[int] | None
    localization_ids: list[int] | None
class Erasure(TypedDict, total=False):
    id: Required[int]
    organization: Required[int]
    user: Required[int]
    status: Literal["Begun", "Completed", "Running"]
    created_by: Required[int]
    created_datetime: Required[str]
    completed_datetime: str | None
    found: list[FoundData]
    copies_end_datetime: str | None
class ErasureCreated(TypedDict):
    message: str
    id: int
    object: Erasure
class ErasureSpec(TypedDict):
    user: int
class EventData(TypedDict, total=False):
    ids: Required[list[Any]]
    changes: list[dict[str, Any]] | None
class EventDocument(TypedDict):
    specversion: str
    id: str
    source: str
    type: str
    time: str
    subject: str
    user: int | None
    commit: int
    data: EventData
class EventPage(TypedDict):
    events: list[EventDocument]
    next: str
    behind: int
class Export(TypedDict):
    uid: str
    id: str
    project: int
    user: int
    name: str
    format: str
    dataset: str | None
    status: Literal["failed", "pending", "running", "succeeded"]
    message: str
    created_datetime: str
    expires_datetime: str
    seq: int
    progress: JobProgress
    media: int
    labels: int
    interpolated: int
    left_out: int
    simplified: int
    size: int
    url: str | None
class ExportCreated(TypedDict):
    message: str
    id: str
    uid: str
class ExportSpec(TypedDict, total=False):
    localizations: LocalizationSelection | None
    states: StateSelection | None
    media: MediaSelection | None
    sections: list[int] | None
    versions: list[int] | None
    seq: int | None
    format: Required[Literal["biigle", "camtrapdp", "coco", "coralnet", "csv", "cvat", "dive", "dota", "dwca", "eventmeasure", "fathomnet", "geojson", "ifdo", "jsonl", "kwcoco", "masks", "mot", "mots", "parquet", "vars", "viame", "voc", "yolo"]]
    name: str | None
    dataset: str | None
    frames: Literal["crops", "every", "frames", "none"]
    every: int | None
    image_format: Literal["jpg", "png"]
    image_height: int | None
    split: Split | None
    classes: Classes | None
    conventions: Conventions | None
    interpolate: bool
class ExtensionType(TypedDict):
    extension: str
    type: int
class Facet(TypedDict):
    name: str
    total: int
    values: list[FacetValue]
class FacetValue(TypedDict):
    value: Any
    count: int
class Favorite(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    user: Required[int]
    type: Required[int]
    name: Required[str]
    entity_type_name: Literal["Localization", "State"]
    page: int
    values: dict[str, Any]
class FavoriteSpec(TypedDict, total=False):
    name: Required[str]
    type: Required[int]
    values: Required[dict[str, Any]]
    page: int
    entity_type_name: Literal["Localization", "State"] | None
class FavoriteUpdate(TypedDict, total=False):
    name: str | None
    entity_type_name: Literal["Localization", "State"] | None
class FeedDefinition(TypedDict):
    name: str
    resolution: list[int]
class File(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    type: Required[int]
    name: Required[str]
    description: str
    path: str
    attributes: dict[str, Any]
    elemental_id: Required[str]
    created_by: Required[int | None]
    created_datetime: Required[str]
    modified_by: Required[int | None]
    modified_datetime: Required[str]
class FileSpec(TypedDict, total=False):
    name: Required[str]
    description: Required[str]
    type: Required[int]
    attributes: dict[str, Any] | None
    elemental_id: str | None
    user_elemental_id: str | None
class FileType(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    description: str
    attribute_types: list[AttributeType]
    elemental_id: Required[str]
    effective_permission: int
class FileTypeSpec(TypedDict, total=False):
    name: Required[str]
    description: str | None
    elemental_id: str | None
    attribute_types: list[AttributeType] | None
class FileTypeUpdate(TypedDict, total=False):
    name: str | None
    description: str | None
    elemental_id: str | None
class FileUpdate(TypedDict, total=False):
    name: str | None
    description: str | None
    type: int | None
    path: str | None
    attributes: dict[str, Any] | None
    reset_attributes: list[str] | None
    null_attributes: list[str] | None
    elemental_id: str | None
    user_elemental_id: str | None
class FileUrlsUpdate(TypedDict):
    old: str
    new: str
class Fill(TypedDict, total=False):
    style: Literal["blur", "fill", "gray"] | None
    color: Any
class FloatArrayQuery(TypedDict, total=False):
    name: Required[str]
    center: list[float] | None
    like: int | None
    metric: Literal["cosine", "ip", "l1norm", "l2norm"] | None
    order: Literal["asc", "desc"] | None
    lower_bound: float | None
    upper_bound: float | None
class FoundData(TypedDict):
    place: str
    number: int
class FrameInstant(TypedDict):
    message: str
    attribute: str
    start: str
class FrameInstantSpec(TypedDict, total=False):
    frame: Required[int]
    instant: Required[str]
    attribute: str | None
class FrameSpan(TypedDict):
    media_id: int
    start: int
    stop: int
class FrameTelemetry(TypedDict, total=False):
    media: Required[int]
    frame: Required[int]
    file: Required[str]
    instant: str | None
    position: list[float] | None
    depth: float | None
    heading: float | None
    values: Required[dict[str, str]]
class FrameTimes(TypedDict, total=False):
    media: Required[int]
    num_frames: Required[int]
    rate: Required[list[int]]
    is_constant: Required[bool]
    start: Required[int]
    times: Required[list[float]]
    parts: list[list[int | None]] | None
class FramesUpdate(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    state_ids: list[int] | None
    frame_state_ids: list[int] | None
    localization_ids: list[int] | None
    shift: int | None
    frames: list[list[int]] | None
class GenericFile(TypedDict):
    name: str
    project: int
    upload_url: str
    url: str
class GenericFileSpec(TypedDict):
    name: str
    upload_url: str
class Geometry(TypedDict, total=False):
    x: float | None
    y: float | None
    width: float | None
    height: float | None
    u: float | None
    v: float | None
    points: list[list[float]] | None
    mask: Mask | None
    angle: float | None
    form: Literal["ellipse"] | None
    closed: bool | None
    holes: list[list[list[float]]] | None
    visible: list[int] | None
class GetClonedMediaResponse(TypedDict):
    message: str
    ids: list[int]
class GivenMembership(TypedDict):
    project: int
    permission: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"]
class Group(TypedDict, total=False):
    id: Required[int]
    organization: Required[int]
    name: Required[str]
    members: list[int]
class GroupSpec(TypedDict, total=False):
    name: Required[str]
    initial_members: list[int] | None
class GroupUpdateSpec(TypedDict, total=False):
    name: str | None
    add_members: list[int] | None
    remove_members: list[int] | None
class Guest(TypedDict, total=False):
    token: Required[str]
    project: Required[int]
    name: Required[str]
    section: int | None
    media_ids: list[int]
    frames: FrameSpan | None
    view: SharedView | None
    dataset: str | None
    search: int | None
    comment: int | None
    downloads: bool
    expires_datetime: Required[str]
class GuestSpec(TypedDict, total=False):
    token: Required[str]
    passphrase: str | None
class HealthStatus(TypedDict, total=False):
    part: Required[str]
    status: str
    version: str | None
class HistoryEntry(TypedDict):
    change: int
    id: int
    time: str
    user: int | None
    action: Literal["created", "deleted", "restored", "updated"]
    old: dict[str, Any] | None
    new: dict[str, Any] | None
class HoneypotResult(TypedDict, total=False):
    task: Required[int]
    media_id: Required[int]
    start_frame: int | None
    end_frame: int | None
    version: Required[int]
    matched: Required[int]
    missing: Required[int]
    extra: Required[int]
    f1: Required[float]
    handed_in: Required[str]
class HoneypotScore(TypedDict, total=False):
    uid: Required[str]
    id: Required[str]
    project: Required[int]
    set: Required[str]
    name: Required[str]
    user: Required[int]
    score: float | None
    results: list[HoneypotResult]
    suspended_datetime: str | None
    reinstated_datetime: str | None
class HoneypotScoreUpdate(TypedDict):
    suspended: bool
class HoneypotSet(TypedDict):
    uid: str
    id: str
    project: int
    name: str
    spec: HoneypotSpec | None
    created_by: int
    created_datetime: str
class HoneypotSpec(TypedDict, total=False):
    reference: Required[int]
    share: float | None
    media_ids: list[int] | None
    minimum: float
    last: int
    least: int
    class_attribute: str | None
    class_aware: bool
    iou: float
    distance: float
class HostedTemplate(TypedDict, total=False):
    id: Required[int]
    organization: Required[int]
    name: Required[str]
    url: Required[str]
    tparams: list[Parameter]
    effective_permission: int
class HostedTemplateSpec(TypedDict, total=False):
    name: Required[str]
    url: Required[str]
    tparams: list[Parameter] | None
    headers: list[Parameter] | None
class IdentityProvider(TypedDict, total=False):
    id: Required[int]
    organization: Required[int]
    name: Required[str]
    issuer: Required[str]
    client_id: Required[str]
    scopes: list[str]
    groups_claim: str
    mappings: list[Mapping]
    domains: list[str]
    break_glass: list[int]
    admission: Literal["automatic", "invited", "mapped"]
    unattended_hours: int
    is_listed: bool
    has_secret: bool
    redirect_url: str | None
    logout_url: str | None
class IdentityProviderSpec(TypedDict, total=False):
    name: Required[str]
    issuer: Required[str]
    client_id: Required[str]
    client_secret: str | None
    scopes: list[str] | None
    groups_claim: str | None
    mappings: list[Mapping] | None
    domains: list[str] | None
    break_glass: list[int] | None
    admission: Literal["automatic", "invited", "mapped"] | None
    unattended_hours: int | None
    is_listed: bool | None
class IdentityProviderUpdate(TypedDict, total=False):
    name: str | None
    issuer: str | None
    client_id: str | None
    client_secret: str | None
    scopes: list[str] | None
    groups_claim: str | None
    mappings: list[Mapping] | None
    domains: list[str] | None
    break_glass: list[int] | None
    admission: Literal["automatic", "invited", "mapped"] | None
    unattended_hours: int | None
    is_listed: bool | None
class ImageDefinition(TypedDict, total=False):
    path: Required[str]
    resolution: Required[list[int]]
    size: int | None
    host: str | None
    http_auth: str | None
    mime: str | None
    reference_only: int | None
    bucket_id: int | None
class Import(TypedDict, total=False):
    id: Required[str]
    uid: Required[str]
    project: Required[int]
    user: Required[int]
    name: Required[str]
    format: Required[str]
    dry_run: Required[bool]
    status: Required[str]
    start_time: Required[str]
    stop_time: str | None
    message: str | None
    progress: Required[ImportProgress]
    report: ImportReport | None
class ImportCreated(TypedDict):
    message: str
    id: str
    uid: str
    object: Import
class ImportProgress(TypedDict):
    done: int
    total: int
class ImportReport(TypedDict, total=False):
    media: Required[Tally]
    localizations: Required[Tally]
    states: Required[Tally]
    classes: list[MappedClass]
    types: list[PlannedType]
    matched: list[MappedMedia]
    refusals: list[RefusedRow]
    notes: list[RefusedRow]
    note_count: int
    dropped: list[DroppedMember]
class ImportSpec(TypedDict, total=False):
    format: Required[Literal["biigle", "camtrapdp", "coco", "coralnet", "csv", "cvat", "dive", "dota", "eventmeasure", "ifdo", "jsonl", "kwcoco", "masks", "mot", "mots", "parquet", "vars", "viame", "voc", "yolo"]]
    key: Required[str]
    name: str
    dry_run: bool
    version: int | None
    match: Literal["md5", "name", "path"]
    create_media: bool
    create_types: bool
    section: str | None
    types: dict[str, int]
    classes: dict[str, ClassTarget]
    class_attribute: str | None
    unknown_attributes: Literal["drop", "refuse"]
    outside: Literal["clip", "refuse"]
    first_pixel: Literal[0, 1]
class Invitation(TypedDict, total=False):
    id: Required[int]
    organization: Required[int]
    email: Required[str]
    permission: Required[Literal["Admin", "Member"]]
    status: Literal["Accepted", "Expired", "Pending"]
    created_by: Required[int]
    created_datetime: Required[str]
    created_username: Required[str]
    registration_token: str | None
class InvitationCreated(TypedDict, total=False):
    message: Required[str]
    id: Required[int]
    user_id: int | None
class InvitationSpec(TypedDict):
    email: str
    permission: Literal["Admin", "Member"]
class InvitationUpdate(TypedDict, total=False):
    permission: Literal["Admin", "Member"] | None
    status: Literal["Accepted"] | None
class Job(TypedDict, total=False):
    id: Required[str]
    uid: Required[str]
    gid: Required[str]
    project: Required[int]
    user: Required[int]
    alg_id: int | None
    media_ids: list[int]
    status: Required[str]
    start_time: Required[str]
    stop_time: str | None
    nodes: list[JobNode]
    message: str | None
    progress: Required[JobProgress]
    pieces: int | None
    done: int | None
class JobCluster(TypedDict, total=False):
    id: Required[int]
    organization: Required[int]
    name: Required[str]
    host: Required[str]
    port: Required[int]
    token: str
    cert: str
    effective_permission: int
class JobClusterSpec(TypedDict):
    name: str
    host: str
    port: int
    token: str
    cert: str
class JobGroup(TypedDict):
    gid: str
    project: int
    jobs: int
    statuses: dict[str, int]
    progress: JobProgress
class JobLog(TypedDict, total=False):
    uid: Required[str]
    node: Required[str]
    task: Required[str]
    status: Required[str]
    log: str | None
    lines: Required[list[str]]
class JobNode(TypedDict, total=False):
    id: Required[str]
    task: Required[str]
    status: Required[str]
    children: list[str]
    start_time: str | None
    stop_time: str | None
    message: str | None
    log: str | None
class JobProgress(TypedDict, total=False):
    done: Required[int]
    total: Required[int]
    message: str | None
class JobSpec(TypedDict, total=False):
    algorithm_name: Required[str]
    media_ids: list[int] | None
    media_query: str | None
    extra_params: list[AlgorithmParameter] | None
    success_email_spec: EmailSpec | None
    failure_email_spec: EmailSpec | None
class JobUpdate(TypedDict):
    progress: JobProgress
class LabelSuggestions(TypedDict):
    id: int
    labels: list[LabelVotes]
class LabelVotes(TypedDict):
    label: str
    votes: int
    share: float
    distance: float
class Leaf(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    type: Required[int]
    name: Required[str]
    parent: int | None
    path: Required[str]
    depth: int
    attributes: dict[str, Any]
    created_by: Required[int | None]
    created_datetime: Required[str]
    modified_by: Required[int | None]
    modified_datetime: Required[str]
class LeafBulkUpdate(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    attributes: dict[str, Any] | None
    reset_attributes: list[str] | None
    null_attributes: list[str] | None
class LeafIdQuery(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
class LeafSpec(TypedDict, total=False):
    name: Required[str]
    type: Required[int]
    parent: int | None
    attributes: dict[str, Any] | None
class LeafSuggestion(TypedDict, total=False):
    value: Required[str]
    group: Required[str]
    data: dict[str, Any]
class LeafType(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    description: str
    attribute_types: list[AttributeType]
    elemental_id: Required[str]
    effective_permission: int
    dtype: str
    visible: bool
class LeafTypeSpec(TypedDict, total=False):
    name: Required[str]
    description: str | None
    elemental_id: str | None
    visible: bool | None
    attribute_types: list[AttributeType] | None
class LeafTypeUpdate(TypedDict, total=False):
    name: str | None
    description: str | None
    elemental_id: str | None
    visible: bool | None
class LeafUpdate(TypedDict, total=False):
    name: str | None
    attributes: dict[str, Any] | None
    reset_attributes: list[str] | None
    null_attributes: list[str] | None
    parent: int | None
class Lens(TypedDict, total=False):
    file: str | None
    file_id: int | None
    side: Literal["left", "right"]
class LiveDefinition(TypedDict, total=False):
    url: Required[str]
    feeds: list[FeedDefinition]
class LiveUpdateDefinition(TypedDict):
    layout: list[int]
    streams: list[LiveDefinition]
class Localization(TypedDict, total=False):
    x: float | None
    y: float | None
    width: float | None
    height: float | None
    u: float | None
    v: float | None
    points: list[list[float]] | None
    mask: Mask | None
    angle: float | None
    form: Literal["ellipse"] | None
    closed: bool | None
    holes: list[list[list[float]]] | None
    visible: list[int] | None
    id: Required[int]
    project: Required[int]
    type: Required[int]
    media: Required[int]
    frame: Required[int]
    bounds: list[float] | None
    version: Required[int]
    parent: float | None
    made_of: list[int] | None
    attributes: dict[str, Any]
    elemental_id: Required[str]
    mark: int
    variant_deleted: bool
    created_by: Required[int | None]
    created_datetime: Required[str]
    modified_by: Required[int | None]
    modified_datetime: Required[str]
    thumbnail_image: str | None
    master_section: int | None
    effective_permission: int
    interpolated: bool
class LocalizationBulkDelete(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    state_ids: list[int] | None
    frame_state_ids: list[int] | None
    prune: int | None
    pedantic: int | None
    in_place: int | None
class LocalizationBulkUpdate(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    state_ids: list[int] | None
    frame_state_ids: list[int] | None
    attributes: dict[str, Any] | None
    reset_attributes: list[str] | None
    null_attributes: list[str] | None
    new_version: int | None
    new_elemental_id: str | None
    user_elemental_id: str | None
    in_place: int | None
class LocalizationChanged(TypedDict):
    message: str
    object: Localization
class LocalizationDelete(TypedDict, total=False):
    prune: int | None
    pedantic: int | None
class LocalizationIdQuery(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    state_ids: list[int] | None
    frame_state_ids: list[int] | None
class LocalizationSelection(TypedDict, total=False):
    attribute: list[str] | None
    attribute_lt: list[str] | None
    attribute_lte: list[str] | None
    attribute_gt: list[str] | None
    attribute_gte: list[str] | None
    attribute_contains: list[str] | None
    attribute_distance: list[str] | None
    attribute_null: list[str] | None
    start: int | None
    stop: int | None
    encoded_search: str | None
    sort_by: list[str] | None
    search: str | None
    force_es: int | None
    operation: Literal["count"] | None
    related_attribute: list[str] | None
    related_attribute_lt: list[str] | None
    related_attribute_lte: list[str] | None
    related_attribute_gt: list[str] | None
    related_attribute_gte: list[str] | None
    related_attribute_contains: list[str] | None
    related_attribute_distance: list[str] | None
    related_attribute_null: list[str] | None
    encoded_related_search: str | None
    section: int | None
    multi_section: list[int] | None
    media_id: list[int] | None
    elemental_id: str | None
    fields: str | None
    type: int | None
    related_id: list[int] | None
    version: list[int] | None
    after: int | None
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str | None
    media_query: str | None
    frame: int | None
    ids: list[int] | None
    object_search: dict[str, Any] | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    state_ids: list[int] | None
    frame_state_ids: list[int] | None
class LocalizationSpec(TypedDict, total=False):
    x: float | None
    y: float | None
    width: float | None
    height: float | None
    u: float | None
    v: float | None
    points: list[list[float]] | None
    mask: Mask | None
    angle: float | None
    form: Literal["ellipse"] | None
    closed: bool | None
    holes: list[list[list[float]]] | None
    visible: list[int] | None
    media_id: Required[int]
    type: Required[int]
    frame: Required[int]
    version: int | None
    parent: float | None
    made_of: list[int] | None
    elemental_id: str | None
    mark: int | None
    attributes: dict[str, Any] | None
    user_elemental_id: str | None
class LocalizationType(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    description: str
    attribute_types: list[AttributeType]
    elemental_id: Required[str]
    effective_permission: int
    dtype: Required[Literal["box", "dot", "line", "poly"]]
    refinements: list[Literal["angle", "ellipse", "holes", "mask", "open", "skeleton"]]
    skeleton: Skeleton | None
    color_map: ColorMap | None
    line_width: int
    visible: bool
    drawable: bool
    grouping_default: bool
    media: list[int]
    colorMap: ColorMap | None
class LocalizationTypeSpec(TypedDict, total=False):
    name: Required[str]
    description: str | None
    elemental_id: str | None
    color_map: ColorMap | None
    refinements: list[Literal["angle", "ellipse", "holes", "mask", "open", "skeleton"]] | None
    skeleton: Skeleton | None
    line_width: int | None
    visible: bool | None
    drawable: bool | None
    grouping_default: bool | None
    media_types: Required[list[int]]
    dtype: Required[Literal["box", "dot", "line", "poly"]]
    attribute_types: list[AttributeType] | None
    colorMap: ColorMap | None
class LocalizationTypeUpdate(TypedDict, total=False):
    name: str | None
    description: str | None
    elemental_id: str | None
    color_map: ColorMap | None
    refinements: list[Literal["angle", "ellipse", "holes", "mask", "open", "skeleton"]] | None
    skeleton: Skeleton | None
    line_width: int | None
    visible: bool | None
    drawable: bool | None
    grouping_default: bool | None
    media_types: list[int] | None
    colorMap: ColorMap | None
class LocalizationUpdate(TypedDict, total=False):
    x: float | None
    y: float | None
    width: float | None
    height: float | None
    u: float | None
    v: float | None
    points: list[list[float]] | None
    mask: Mask | None
    angle: float | None
    form: Literal["ellipse"] | None
    closed: bool | None
    holes: list[list[list[float]]] | None
    visible: list[int] | None
    attributes: dict[str, Any] | None
    reset_attributes: list[str] | None
    null_attributes: list[str] | None
    user_elemental_id: str | None
    frame: int | None
    version: int | None
    parent: float | None
    elemental_id: str | None
    mark: int | None
    in_place: int | None
    pedantic: int | None
class MappedClass(TypedDict, total=False):
    name: Required[str]
    kind: Required[str]
    type: int | None
    reason: str | None
    rows: int
class MappedMedia(TypedDict, total=False):
    key: Required[str]
    media: int | None
class Mapping(TypedDict, total=False):
    group: Required[str]
    affiliation: Literal["Admin", "Member"] | None
    memberships: list[GivenMembership]
    groups: list[int]
class Mask(TypedDict):
    size: list[int]
    counts: str
class Media(TypedDict, total=False):
    num_frames: int | None
    fps: float | None
    codec: str | None
    width: int | None
    height: int | None
    summary_level: int | None
    id: Required[int]
    project: Required[int]
    type: Required[int]
    name: Required[str]
    md5: str
    gid: str | None
    uid: str | None
    created_datetime: Required[str]
    created_by: Required[int | None]
    modified_datetime: Required[str]
    modified_by: Required[int | None]
    attributes: dict[str, Any]
    primary_section: int | None
    master_section: int | None
    last_edit_start: str | None
    last_edit_end: str | None
    elemental_id: Required[str]
    archive_state: Literal["archived", "live", "to_archive", "to_live"]
    archive_status_date: str | None
    media_files: MediaFiles | None
    import_error: str | None
    damaged_frames: DamagedFrames | None
    incident: int | None
    effective_permission: int
class MediaBulkUpdate(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    localization_ids: list[int] | None
    state_ids: list[int] | None
    attributes: dict[str, Any] | None
    null_attributes: list[str] | None
    reset_attributes: list[str] | None
    archive_state: Literal["to_archive", "to_live"] | None
    user_elemental_id: str | None
    primary_section: int | None
class MediaFiles(TypedDict, total=False):
    bucket_object: BucketObject | None
    archival: list[VideoDefinition] | None
    streaming: list[VideoDefinition] | None
    audio: list[AudioDefinition] | None
    image: list[ImageDefinition] | None
    thumbnail: list[ImageDefinition] | None
    thumbnail_gif: list[ImageDefinition] | None
    attachment: list[AuxiliaryFileDefinition] | None
    concat: list[ConcatDefinition] | None
    live: list[LiveDefinition] | None
    ids: list[int] | None
    layout: list[int] | None
    quality: int | None
    frameOffset: list[int] | None
class MediaIdQuery(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    localization_ids: list[int] | None
    state_ids: list[int] | None
class MediaNext(TypedDict):
    next: int
class MediaPrev(TypedDict):
    prev: int
class MediaSelection(TypedDict, total=False):
    attribute: list[str] | None
    attribute_lt: list[str] | None
    attribute_lte: list[str] | None
    attribute_gt: list[str] | None
    attribute_gte: list[str] | None
    attribute_contains: list[str] | None
    attribute_distance: list[str] | None
    attribute_null: list[str] | None
    start: int | None
    stop: int | None
    encoded_search: str | None
    sort_by: list[str] | None
    search: str | None
    force_es: int | None
    operation: Literal["count"] | None
    related_attribute: list[str] | None
    related_attribute_lt: list[str] | None
    related_attribute_lte: list[str] | None
    related_attribute_gt: list[str] | None
    related_attribute_gte: list[str] | None
    related_attribute_contains: list[str] | None
    related_attribute_distance: list[str] | None
    related_attribute_null: list[str] | None
    encoded_related_search: str | None
    section: int | None
    multi_section: list[int] | None
    media_id: list[int] | None
    elemental_id: str | None
    fields: str | None
    type: int | None
    name: str | None
    dtype: Literal["image", "multi", "video"] | None
    md5: str | None
    gid: str | None
    uid: str | None
    after: int | str | None
    after_name: str | None
    archive_lifecycle: Literal["all", "archived", "live"] | None
    annotation_search: str | None
    ids: list[int] | None
    object_search: dict[str, Any] | None
    localization_ids: list[int] | None
    state_ids: list[int] | None
class MediaSpec(TypedDict, total=False):
    num_frames: int | None
    fps: float | None
    codec: str | None
    width: int | None
    height: int | None
    summary_level: int | None
    type: Required[int]
    name: Required[str]
    md5: Required[str]
    section: str
    section_id: int | None
    master_section: int | None
    url: str | None
    thumbnail_url: str | None
    thumbnail_gif_url: str | None
    gid: str | None
    uid: str | None
    attributes: dict[str, Any] | None
    elemental_id: str | None
    user_elemental_id: str | None
    reference_only: int | None
class MediaStats(TypedDict):
    count: int
    duration: float
    total_size: int
    download_size: int
class MediaType(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    description: str
    attribute_types: list[AttributeType]
    elemental_id: Required[str]
    effective_permission: int
    dtype: Required[Literal["image", "live", "multi", "video"]]
    file_format: str | None
    default_volume: int
    visible: bool
    archive_config: list[ArchiveConfig] | None
    streaming_config: list[ResolutionConfig] | None
    overlay_config: dict[str, Any] | None
    default_box: int | None
    default_line: int | None
    default_dot: int | None
class MediaTypeSpec(TypedDict, total=False):
    name: Required[str]
    description: str | None
    elemental_id: str | None
    file_format: str | None
    default_volume: int | None
    visible: bool | None
    archive_config: list[ArchiveConfig] | None
    streaming_config: list[ResolutionConfig] | None
    overlay_config: dict[str, Any] | None
    default_box: int | None
    default_line: int | None
    default_dot: int | None
    dtype: Required[Literal["image", "live", "multi", "video"]]
    attribute_types: list[AttributeType] | None
class MediaTypeUpdate(TypedDict, total=False):
    name: str | None
    description: str | None
    elemental_id: str | None
    file_format: str | None
    default_volume: int | None
    visible: bool | None
    archive_config: list[ArchiveConfig] | None
    streaming_config: list[ResolutionConfig] | None
    overlay_config: dict[str, Any] | None
    default_box: int | None
    default_line: int | None
    default_dot: int | None
class MediaUpdate(TypedDict, total=False):
    num_frames: int | None
    fps: float | None
    codec: str | None
    width: int | None
    height: int | None
    summary_level: int | None
    name: str | None
    media_files: MediaFiles | None
    last_edit_start: str | None
    last_edit_end: str | None
    attributes: dict[str, Any] | None
    null_attributes: list[str] | None
    reset_attributes: list[str] | None
    elemental_id: str | None
    user_elemental_id: str | None
    primary_section: int | None
    master_section: int | None
    multi: MultiDefinition | None
    concat: list[ConcatDefinition] | None
    live: LiveUpdateDefinition | None
    archive_state: Literal["to_archive", "to_live"] | None
class Membership(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    user: Required[int]
    permission: Required[Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"]]
    default_version: int | None
    username: str | None
    first_name: str | None
    last_name: str | None
    email: str | None
class MembershipSpec(TypedDict, total=False):
    user: Required[int]
    permission: Required[Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"]]
    default_version: int | None
class MembershipUpdate(TypedDict, total=False):
    permission: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"] | None
    default_version: int | None
class MessageResponse(TypedDict, total=False):
    message: Required[str]
    change: int | None
class MultiDefinition(TypedDict, total=False):
    ids: list[int] | None
    layout: list[int] | None
    quality: int | None
    frameOffset: list[int] | None
class NextTaskSpec(TypedDict, total=False):
    name: str | None
    stage: Literal["open", "review"]
    lease_seconds: int
class NotFoundResponse(TypedDict, total=False):
    message: Required[str]
    details: str
class Notice(TypedDict):
    id: int
    topic: Literal["imports", "jobs", "mentions", "quality", "tasks"]
    project: int
    text: str
    link: str
    created_datetime: str
    is_read: bool
class NoticesRead(TypedDict, total=False):
    ids: list[int] | None
class NotificationSettings(TypedDict, total=False):
    mentions: Literal["console", "daily", "mail", "none"]
    tasks: Literal["console", "daily", "mail", "none"]
    jobs: Literal["console", "daily", "mail", "none"]
    imports: Literal["console", "daily", "mail", "none"]
    quality: Literal["console", "daily", "mail", "none"]
class NotificationSettingsUpdate(TypedDict, total=False):
    mentions: Literal["console", "daily", "mail", "none"]
    tasks: Literal["console", "daily", "mail", "none"]
    jobs: Literal["console", "daily", "mail", "none"]
    imports: Literal["console", "daily", "mail", "none"]
    quality: Literal["console", "daily", "mail", "none"]
class NotifySpec(TypedDict, total=False):
    message: Required[str]
    send_as_file: int | None
class Organization(TypedDict, total=False):
    id: Required[int]
    name: Required[str]
    default_membership_permission: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "No Access", "View Only"]
    thumb: str | None
    allowed_origins: list[str]
    access_token_days: int | None
    usage_limits: UsageLimits | None
    forbids_public_projects: bool
    permission: str | None
    effective_permission: int
class OrganizationSpec(TypedDict, total=False):
    name: Required[str]
    default_membership_permission: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "No Access", "View Only"] | None
    thumb: str | None
    allowed_origins: list[str] | None
    access_token_days: int | None
    usage_limits: UsageLimits | None
    forbids_public_projects: bool | None
class OrganizationUpdate(TypedDict, total=False):
    name: str | None
    default_membership_permission: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "No Access", "View Only"] | None
    thumb: str | None
    allowed_origins: list[str] | None
    access_token_days: int | None
    usage_limits: UsageLimits | None
    forbids_public_projects: bool | None
class Outside(TypedDict):
    type: Literal["outside"]
class Parameter(TypedDict):
    name: str
    value: str
class Passkey(TypedDict, total=False):
    id: Required[str]
    name: Required[str]
    algorithm: Required[int]
    public_key: Required[str]
    counter: int
    is_synced: bool
    created_datetime: Required[str]
    used_on: str | None
class PasskeyCreated(TypedDict):
    message: str
    id: str
    object: PasskeySummary
class PasskeyProof(TypedDict, total=False):
    id: Required[str]
    client_data: Required[str]
    authenticator_data: Required[str]
    signature: Required[str]
    user_handle: str | None
class PasskeyQuestion(TypedDict, total=False):
    challenge: Required[str]
    host: Required[str]
    ids: list[str]
    user_verification: Required[Literal["preferred", "required"]]
class PasskeyRegistrationSpec(TypedDict, total=False):
    password: Required[str]
    code: str | None
    passkey: PasskeyProof | None
class PasskeySpec(TypedDict):
    name: str
    client_data: str
    attestation: str
class PasskeySummary(TypedDict, total=False):
    id: Required[str]
    name: Required[str]
    created_datetime: Required[str]
    used_on: str | None
    is_synced: bool
class PasskeyUpdate(TypedDict):
    name: str
class PasswordResetSpec(TypedDict):
    email: str
class PathSubstitution(TypedDict):
    old: str
    new: str
class PlannedType(TypedDict, total=False):
    kind: Required[str]
    dtype: Required[str]
    name: Required[str]
    type: int | None
    attributes: dict[str, str]
class PointSampleSpec(TypedDict, total=False):
    type: Required[int]
    media_ids: list[int] | None
    media_query: str | None
    frame: int | None
    every: int | None
    method: Literal["grid", "random", "stratified"]
    count: int
    seed: int
    region: Region | None
    version: int | None
class PointSamplesCreated(TypedDict):
    message: str
    id: list[int]
    frames: int
class Prediction(TypedDict, total=False):
    boxes: Required[list[Box | None]]
    localizations: Required[list[dict[str, Any]]]
    states: list[dict[str, Any]]
    tracks: list[str | None]
    version: int | None
    model: str | None
    left_out: int
class PredictionSpec(TypedDict, total=False):
    annotator: Required[int]
    frame: int
class Project(TypedDict, total=False):
    id: Required[int]
    name: Required[str]
    summary: str
    organization: Required[int]
    enable_downloads: bool
    bucket: int | None
    upload_bucket: int | None
    backup_bucket: int | None
    elemental_id: Required[str]
    thumb: str | None
    created: Required[str]
    attribute_types: list[AttributeType]
    extended_info: dict[str, Any]
    public: Literal["listed", "unlisted"] | None
    public_downloads: bool
    num_files: int
    size: int
    duration: int
    usage_limits: UsageLimits | None
    usernames: list[str]
    permission: str | None
    effective_permission: int
class ProjectSpec(TypedDict, total=False):
    name: Required[str]
    summary: str | None
    enable_downloads: bool | None
    bucket: int | None
    upload_bucket: int | None
    backup_bucket: int | None
    elemental_id: str | None
    thumb: str | None
    usage_limits: UsageLimits | None
    public: Literal["listed", "unlisted"] | None
    public_downloads: bool | None
    organization: Required[int]
class ProjectUpdate(TypedDict, total=False):
    name: str | None
    summary: str | None
    enable_downloads: bool | None
    bucket: int | None
    upload_bucket: int | None
    backup_bucket: int | None
    elemental_id: str | None
    thumb: str | None
    usage_limits: UsageLimits | None
    public: Literal["listed", "unlisted"] | None
    public_downloads: bool | None
class Prompt(TypedDict, total=False):
    x: Required[float]
    y: Required[float]
    positive: bool
class PublicProject(TypedDict, total=False):
    id: Required[int]
    name: Required[str]
    summary: str
    num_files: int
class QualityReport(TypedDict, total=False):
    uid: Required[str]
    id: Required[str]
    project: Required[int]
    status: Literal["failed", "pending", "running", "succeeded"]
    message: str
    created_datetime: Required[str]
    spec: Required[QualityReportSpec]
    compared: int
    results: list[dict[str, Any]] | None
    alpha: float | None
    alpha_interval: list[float] | None
class QualityReportCreated(TypedDict):
    message: str
    id: str
    uid: str
class QualityReportSpec(TypedDict, total=False):
    versions: Required[list[int]]
    reference: int | None
    class_attribute: str | None
    iou: float
    distance: float
    class_aware: bool
    media_ids: list[int] | None
    query: str | None
class Queued(TypedDict, total=False):
    id: Required[int]
    other: int | None
    value: Required[float]
class Recast(TypedDict):
    type: Literal["Recast"]
    name: str
    dtype: Literal["float", "int"]
class RecoveryCodes(TypedDict):
    recovery_codes: list[str]
class RedeliverySpec(TypedDict, total=False):
    event: str | None
    after: str | None
    since: str | None
    project: int | None
class Reference(TypedDict, total=False):
    type: Required[int]
    length: float | None
    attribute: str | None
    error: float
    frames: int
class Refusal(TypedDict):
    id: int
    reason: str
class RefusedRow(TypedDict):
    place: str
    reason: str
class Region(TypedDict):
    x: float
    y: float
    width: float
    height: float
class Registration(TypedDict):
    challenge: str
    host: str
    user_handle: str
    username: str
    display_name: str
    algorithms: list[int]
    excluded_ids: list[str]
class Removed(TypedDict):
    type: Literal["Removed"]
    name: str
class Renamed(TypedDict):
    type: Literal["Renamed"]
    name: str
    to: str
class ResolutionConfig(TypedDict, total=False):
    resolution: Required[int]
    vcodec: Literal["av1", "h264", "hevc"]
    crf: int
    preset: str
    pixel_format: Literal["yuv420p", "yuv420p10le", "yuv422p", "yuv422p10le", "yuv444p", "yuv444p10le", "yuvj420p", "yuvj422p", "yuvj444p"]
class RestoreResponse(TypedDict, total=False):
    message: Required[str]
    restored: Required[dict[str, int]]
    skipped: int
class RestoreSpec(TypedDict):
    changes: list[int]
class ReviewQueueSpec(TypedDict, total=False):
    order: Required[Literal["duplicates", "uncertain", "unlike"]]
    type: Required[int]
    attribute: Required[str]
    version: int | None
    query: str | None
    metric: Literal["cosine", "l2norm"]
    within: float
    count: int
class RewriteAnswer(TypedDict, total=False):
    message: Required[str]
    matched: Required[int]
    changed: Required[int]
    refused: Required[int]
    refusals: Required[list[Refusal]]
    change: int | None
class RotationSpec(TypedDict, total=False):
    keep_hours: int
class RowProtection(TypedDict, total=False):
    id: Required[int]
    project: int | None
    media: int | None
    localization: int | None
    state: int | None
    file: int | None
    section: int | None
    algorithm: int | None
    version: int | None
    target_organization: int | None
    target_group: int | None
    job_cluster: int | None
    bucket: int | None
    hosted_template: int | None
    user: int | None
    organization: int | None
    group: int | None
    permission: Required[int]
    created_datetime: Required[str]
    created_by: Required[int]
class RowProtectionSpec(TypedDict, total=False):
    project: int | None
    media: int | None
    localization: int | None
    state: int | None
    file: int | None
    section: int | None
    algorithm: int | None
    version: int | None
    target_organization: int | None
    target_group: int | None
    job_cluster: int | None
    bucket: int | None
    hosted_template: int | None
    user: int | None
    organization: int | None
    group: int | None
    permission: Required[int]
class RowProtectionUpdateSpec(TypedDict, total=False):
    permission: int | None
class Rule(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    types: Required[list[str]]
    query: str | None
    algorithm: str | None
    annotator: int | None
    every: int
    active: bool
    user: Required[int]
    created: Required[str]
    disabled_reason: Literal["algorithm_changed", "algorithm_missing", "error", "failing", "gone", "launches_itself", "owner_lost_access", "query_refused", "refused", "token_invalid"] | None
    disabled_details: str | None
    disabled_at: str | None
    failing_since: str | None
    last_error: str | None
    effective_permission: int
class RuleSpec(TypedDict, total=False):
    name: Required[str]
    types: Required[list[str]]
    query: str | None
    algorithm: str | None
    annotator: int | None
    every: int | None
    active: bool | None
class RuleUpdate(TypedDict, total=False):
    name: str | None
    types: list[str] | None
    query: str | None
    algorithm: str | None
    annotator: int | None
    every: int | None
    active: bool | None
class S3StorageConfig(TypedDict):
    aws_access_key: str
    bucket_name: str
class Scale(TypedDict, total=False):
    reference: Reference | None
    above: Above | None
    lens: Lens | None
    point_error: float
class ScaledAttributes(TypedDict, total=False):
    length: str | None
    width: str | None
    area: str | None
    perimeter: str | None
    length_error: str | None
    width_error: str | None
    area_error: str | None
    perimeter_error: str | None
class ScaledMeasure(TypedDict, total=False):
    length: float | None
    width: float | None
    area: float | None
    perimeter: float | None
    length_error: float | None
    width_error: float | None
    area_error: float | None
    perimeter_error: float | None
    pixel: float | None
class ScaledMeasureSpec(TypedDict, total=False):
    frame: int
    shape: Required[Geometry]
    scale: Required[Scale]
class ScaledUpdate(TypedDict, total=False):
    media_ids: list[int] | None
    media_query: str | None
    types: list[int] | None
    scale: Required[Scale]
    attributes: Required[ScaledAttributes]
class SecondFactor(TypedDict, total=False):
    sealed: Required[str]
    confirmed_datetime: str | None
    last_step: int
    recovery: list[str]
class SecondFactorBegun(TypedDict):
    secret: str
    uri: str
class SecondFactorSpec(TypedDict):
    password: str
class SecondFactorState(TypedDict, total=False):
    is_on: Required[bool]
    confirmed_datetime: str | None
    recovery_codes: int
class SecretRotated(TypedDict, total=False):
    message: Required[str]
    secret: Required[str]
    previous_secret_until: str | None
class Section(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    path: Required[str]
    dtype: Literal["folder", "playlist", "saved_search"]
    tator_user_sections: str | None
    object_search: AttributeOperationSpec | None
    related_search: AttributeOperationSpec | None
    visible: bool
    explicit_listing: bool
    elemental_id: Required[str]
    attributes: dict[str, Any]
    media: list[int]
    created_datetime: str | None
    created_by: int | None
    lucene_string: str | None
    media_bools: list[dict[str, Any]] | None
    annotation_bools: list[dict[str, Any]] | None
    master_section: int | None
    effective_permission: int
class SectionBulkUpdate(TypedDict, total=False):
    path_substitution: PathSubstitution | None
class SectionSpec(TypedDict, total=False):
    name: Required[str]
    path: str | None
    dtype: Literal["folder", "playlist", "saved_search"] | None
    tator_user_sections: str
    object_search: AttributeOperationSpec | None
    related_search: AttributeOperationSpec | None
    visible: bool
    explicit_listing: bool
    elemental_id: str | None
    attributes: dict[str, Any] | None
    media: list[int] | None
    lucene_string: str | None
    media_bools: list[dict[str, Any]] | None
    annotation_bools: list[dict[str, Any]] | None
    master_section: int | None
class SectionUpdate(TypedDict, total=False):
    name: str | None
    path: str | None
    dtype: Literal["folder", "playlist", "saved_search"] | None
    tator_user_sections: str | None
    object_search: AttributeOperationSpec | None
    related_search: AttributeOperationSpec | None
    visible: bool | None
    explicit_listing: bool | None
    elemental_id: str | None
    attributes: dict[str, Any] | None
    media_add: list[int] | None
    media_del: list[int] | None
    lucene_string: str | None
    media_bools: list[dict[str, Any]] | None
    annotation_bools: list[dict[str, Any]] | None
    master_section: int | None
class Segmentation(TypedDict, total=False):
    localization: dict[str, Any] | None
    confidence: float | None
    model: str | None
    was_sent: bool
class SegmentationSpec(TypedDict, total=False):
    annotator: Required[int]
    frame: int
    points: list[Prompt]
    box: Sides | None
    form: Literal["mask", "polygon"] | None
class SessionRenewed(TypedDict):
    message: str
    expires_datetime: str
class ShareLink(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    user: Required[int]
    name: str
    section: int | None
    media_ids: list[int]
    frames: FrameSpan | None
    view: SharedView | None
    dataset: str | None
    search: int | None
    comment: int | None
    downloads: bool
    has_passphrase: bool
    expires_datetime: str | None
    most_openings: int | None
    openings: int
    last_opened_datetime: str | None
    created_datetime: Required[str]
class ShareLinkCreated(TypedDict):
    message: str
    id: int
    url: str
    object: ShareLink
class ShareLinkSpec(TypedDict, total=False):
    name: str
    passphrase: str | None
    expires_datetime: str | None
    most_openings: int | None
    downloads: bool | None
    section: int | None
    media_ids: list[int] | None
    frames: FrameSpan | None
    view: SharedView | None
    dataset: str | None
    search: int | None
    comment: int | None
class ShareLinkUpdate(TypedDict, total=False):
    name: str | None
    passphrase: str | None
    expires_datetime: str | None
    most_openings: int | None
    downloads: bool | None
class SharedView(TypedDict, total=False):
    media_id: Required[int]
    frame: int
    versions: list[int] | None
    types: list[int] | None
class Sides(TypedDict):
    x: float
    y: float
    width: float
    height: float
class SightingRow(TypedDict):
    media: int
    name: str
    unit: str | None
    label: str
    count: int
    frames: int
    maxn: int
    maxn_frame: int
    maxn_time: float | None
    mean_count: float
    first_frame: int
    first_time: float | None
    last_frame: int
    last_time: float | None
class SignIn(TypedDict, total=False):
    username: Required[str]
    password: Required[str]
    code: str | None
    passkey: PasskeyProof | None
class SignInBegun(TypedDict):
    url: str
class SignInProvider(TypedDict):
    id: int
    name: str
class SignInSpec(TypedDict, total=False):
    return_to: str
    connect: bool
class Skeleton(TypedDict, total=False):
    points: Required[list[str]]
    edges: list[list[int]]
class Split(TypedDict, total=False):
    train: float
    val: float
    test: float
    seed: int
class State(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    type: Required[int]
    media: Required[list[int]]
    localizations: list[int]
    segments: list[list[int]] | None
    frame: int | None
    version: Required[int]
    parent: float | None
    attributes: dict[str, Any]
    elemental_id: Required[str]
    mark: int
    variant_deleted: bool
    created_by: Required[int | None]
    created_datetime: Required[str]
    modified_by: Required[int | None]
    modified_datetime: Required[str]
    master_section: int | None
    effective_permission: int
class StateBulkDelete(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    localization_ids: list[int] | None
    prune: int | None
    pedantic: int | None
    in_place: int | None
class StateBulkUpdate(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    localization_ids: list[int] | None
    attributes: dict[str, Any] | None
    reset_attributes: list[str] | None
    null_attributes: list[str] | None
    new_version: int | None
    new_elemental_id: str | None
    user_elemental_id: str | None
    in_place: int | None
class StateChanged(TypedDict):
    message: str
    object: State
class StateDelete(TypedDict, total=False):
    prune: int | None
    pedantic: int | None
class StateIdQuery(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    localization_ids: list[int] | None
class StateMergeUpdate(TypedDict):
    merge_state_id: int
class StateSelection(TypedDict, total=False):
    attribute: list[str] | None
    attribute_lt: list[str] | None
    attribute_lte: list[str] | None
    attribute_gt: list[str] | None
    attribute_gte: list[str] | None
    attribute_contains: list[str] | None
    attribute_distance: list[str] | None
    attribute_null: list[str] | None
    start: int | None
    stop: int | None
    encoded_search: str | None
    sort_by: list[str] | None
    search: str | None
    force_es: int | None
    operation: Literal["count"] | None
    related_attribute: list[str] | None
    related_attribute_lt: list[str] | None
    related_attribute_lte: list[str] | None
    related_attribute_gt: list[str] | None
    related_attribute_gte: list[str] | None
    related_attribute_contains: list[str] | None
    related_attribute_distance: list[str] | None
    related_attribute_null: list[str] | None
    encoded_related_search: str | None
    section: int | None
    multi_section: list[int] | None
    media_id: list[int] | None
    elemental_id: str | None
    fields: str | None
    type: int | None
    related_id: list[int] | None
    version: list[int] | None
    after: int | None
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str | None
    media_query: str | None
    ids: list[int] | None
    object_search: dict[str, Any] | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    localization_ids: list[int] | None
class StateSpec(TypedDict, total=False):
    type: Required[int]
    media_ids: Required[list[int]]
    localization_ids: list[int] | None
    frame: int | None
    version: int | None
    parent: float | None
    elemental_id: str | None
    mark: int | None
    attributes: dict[str, Any] | None
    user_elemental_id: str | None
class StateTrimUpdate(TypedDict):
    frame: int
    endpoint: Literal["end", "start"]
class StateType(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    description: str
    attribute_types: list[AttributeType]
    elemental_id: Required[str]
    effective_permission: int
    dtype: str
    association: Required[Literal["Frame", "Localization", "Media"]]
    interpolation: Literal["attr_style_range", "latest", "none"]
    visible: bool
    grouping_default: bool
    delete_child_localizations: bool
    default_localization: int | None
    media: list[int]
    extended_info: dict[str, Any]
class StateTypeSpec(TypedDict, total=False):
    name: Required[str]
    description: str | None
    elemental_id: str | None
    association: Required[Literal["Frame", "Localization", "Media"]]
    interpolation: Literal["attr_style_range", "latest", "none"] | None
    visible: bool | None
    grouping_default: bool | None
    delete_child_localizations: bool | None
    default_localization: int | None
    extended_info: dict[str, Any] | None
    media_types: Required[list[int]]
    attribute_types: list[AttributeType] | None
class StateTypeUpdate(TypedDict, total=False):
    name: str | None
    description: str | None
    elemental_id: str | None
    association: Literal["Frame", "Localization", "Media"] | None
    interpolation: Literal["attr_style_range", "latest", "none"] | None
    visible: bool | None
    grouping_default: bool | None
    delete_child_localizations: bool | None
    default_localization: int | None
    extended_info: dict[str, Any] | None
    media_types: list[int] | None
class StateUpdate(TypedDict, total=False):
    attributes: dict[str, Any] | None
    reset_attributes: list[str] | None
    null_attributes: list[str] | None
    user_elemental_id: str | None
    frame: int | None
    parent: float | None
    elemental_id: str | None
    mark: int | None
    localization_ids_add: list[int] | None
    localization_ids_remove: list[int] | None
    localization_ids: list[int] | None
    media_ids: list[int] | None
    in_place: int | None
    pedantic: int | None
class StatisticsAnswer(TypedDict, total=False):
    kind: Required[str]
    matched: Required[int]
    groups: int | None
    rows: list[dict[str, Any]] | None
    facets: list[Facet] | None
class StereoAttributes(TypedDict, total=False):
    length: str | None
    range: str | None
    x: str | None
    y: str | None
    z: str | None
    error: str | None
class StereoMeasure(TypedDict, total=False):
    length: float | None
    range: float | None
    x: float | None
    y: float | None
    z: float | None
    error: float | None
    epipolar: list[list[list[float]]]
class StereoMeasureSpec(TypedDict, total=False):
    file: str | None
    file_id: int | None
    scale: float
    left: Required[list[list[float]]]
    right: list[list[float]] | None
class StereoRectification(TypedDict):
    size: list[int]
    columns: int
    rows: int
    is_vertical: bool
    meshes: list[list[list[float] | None]]
class StereoUpdate(TypedDict, total=False):
    file: str | None
    file_id: int | None
    scale: float
    media_ids: list[int] | None
    media_query: str | None
    attributes: Required[StereoAttributes]
class SuggestionsSpec(TypedDict, total=False):
    ids: Required[list[int]]
    embedding_attribute: Required[str]
    label_attribute: Required[str]
    neighbours: int
    metric: Literal["cosine", "l2norm"]
    version: int | None
class Tally(TypedDict, total=False):
    read: int
    accepted: int
    present: int
    refused: int
    skipped: int
class Task(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    media_id: Required[int]
    start_frame: int | None
    end_frame: int | None
    copy: int
    version: int | None
    state: Required[str]
    reason: str | None
    instructions: str
    checklist: list[ChecklistItem]
    due_datetime: str | None
    assignee: int | None
    leased_by: int | None
    leased_until: str | None
    seconds: int
    created_by: Required[int]
    created_datetime: Required[str]
    modified_datetime: Required[str]
class TaskCount(TypedDict, total=False):
    name: Required[str]
    state: Required[str]
    assignee: int | None
    count: Required[int]
    seconds: Required[int]
class TaskCreated(TypedDict, total=False):
    message: Required[str]
    id: Required[list[int]]
    existing: int
    honeypots: int
class TaskSpec(TypedDict, total=False):
    name: Required[str]
    media_ids: list[int] | None
    media_query: str | None
    copies: int
    frames: int | None
    overlap: int
    versions: list[int] | None
    instructions: str
    checklist: list[str]
    due_datetime: str | None
    honeypots: HoneypotSpec | None
class TaskState(TypedDict):
    name: str
    stage: Literal["active", "closed", "open", "review"]
class TaskUpdate(TypedDict, total=False):
    state: str
    reason: str
    checklist: list[bool]
    lease_seconds: int
class TaskWorkflow(TypedDict, total=False):
    project: Required[int]
    states: list[TaskState]
    transitions: list[Transition]
class TaskWorkflowUpdate(TypedDict, total=False):
    states: list[TaskState]
    transitions: list[Transition]
class Telemetry(TypedDict, total=False):
    media: Required[int]
    file: Required[str]
    files: Required[list[str]]
    start: str | None
    is_placed: Required[bool]
    every: Required[int]
    columns: Required[list[TelemetryColumn]]
class TelemetryColumn(TypedDict):
    name: str
    times: list[float]
    values: list[str]
class TelemetryUpdate(TypedDict, total=False):
    ids: list[int] | None
    float_array: list[FloatArrayQuery] | None
    object_search: AttributeOperationSpec | None
    media_ids: list[int] | None
    elemental_ids: list[str] | None
    media_query: str | None
    state_ids: list[int] | None
    frame_state_ids: list[int] | None
    localization_ids: list[int] | None
    file: Required[str]
    columns: Required[dict[str, str | list[str]]]
    time: str
    start: str | None
    join: Literal["nearest", "preceding"]
    tolerance: float | None
class TemporaryFile(TypedDict):
    id: int
    project: int
    user: int
    name: str
    path: str
    lookup: str
    created_datetime: str
    eol_datetime: str
class TemporaryFileSpec(TypedDict, total=False):
    url: Required[str]
    name: Required[str]
    lookup: Required[str]
    hours: int
class Token(TypedDict):
    token: str
class TokenSummary(TypedDict, total=False):
    id: Required[str]
    name: Required[str]
    created_datetime: Required[str]
    used_on: str | None
    expires_datetime: str | None
    is_present: Required[bool]
class TrackedFrame(TypedDict):
    frame: int
    boxes: list[Box | None]
class Tracking(TypedDict, total=False):
    frames: Required[list[TrackedFrame]]
    states: Required[list[Any]]
    next: int | None
    model: str | None
class TrackingSpec(TypedDict, total=False):
    annotator: Required[int]
    frame: int
    stop: Required[int]
    boxes: Required[list[Sides | None]]
    states: list[Any] | None
class Transcode(TypedDict):
    spec: dict[str, Any]
    job: Job
class TranscodeSpec(TypedDict, total=False):
    type: Required[int]
    gid: str | None
    uid: str | None
    url: Required[str]
    name: Required[str]
    size: int | None
    section: str
    section_id: int | None
    md5: str | None
    attributes: dict[str, Any] | None
    email_spec: EmailSpec | None
    media_id: int | None
class Transition(TypedDict, total=False):
    source: Required[str]
    target: Required[str]
    level: Literal["Can Edit", "Can Execute", "Can Transfer", "Full Control", "View Only"]
    needs_reason: bool
class Undecided(TypedDict):
    media: int
    frame: int
    ids: list[int]
class Unknown(TypedDict):
    type: Literal["unknown"]
class UploadCompletionSpec(TypedDict, total=False):
    key: Required[str]
    upload_id: Required[str]
    parts: Required[list[UploadPart]]
    bucket_id: int | None
class UploadInfo(TypedDict, total=False):
    urls: Required[list[str]]
    key: Required[str]
    upload_id: str
class UploadPart(TypedDict):
    ETag: str
    PartNumber: int
class UsageLimits(TypedDict, total=False):
    bytes: int | None
    transcoded_minutes: int | None
    mails: int | None
class UsageRow(TypedDict, total=False):
    month: Required[str]
    project: Required[int]
    name: Required[str]
    originals: Required[int]
    renditions: Required[int]
    derived: Required[int]
    transcoded_minutes: Required[float]
    requests: Required[int]
    mails: Required[int]
    estimated_cost: Required[float]
    exhausted: list[Literal["bytes", "mails", "transcoded_minutes"]]
class User(TypedDict, total=False):
    id: Required[int]
    username: Required[str]
    first_name: str
    last_name: str
    email: str
    is_staff: bool
    elemental_id: Required[str]
    profile: dict[str, Any]
class UserSpec(TypedDict, total=False):
    username: Required[str]
    first_name: Required[str]
    last_name: Required[str]
    email: Required[str]
    password: Required[str]
    registration_token: str | None
    new_avatar: str | None
    elemental_id: str | None
    profile: dict[str, Any] | None
class UserUpdate(TypedDict, total=False):
    username: str | None
    first_name: str | None
    last_name: str | None
    email: str | None
    password: str | None
    reset_token: str | None
    current_password: str | None
    new_avatar: str | None
    clear_avatar: int | None
    set_profile_keys: dict[str, Any] | None
    clear_profile_keys: list[str] | None
    elemental_id: str | None
    is_active: bool | None
class Vectors(TypedDict, total=False):
    vectors: Required[list[list[float]]]
    model: str | None
class Version(TypedDict, total=False):
    id: Required[int]
    project: Required[int]
    name: Required[str]
    description: str
    number: Required[int]
    show_empty: bool
    bases: list[int]
    made_of: list[int]
    elemental_id: Required[str]
    created_by: int | None
    effective_permission: int
class VersionSpec(TypedDict, total=False):
    name: Required[str]
    description: str | None
    show_empty: bool | None
    bases: list[int] | None
    elemental_id: str | None
class VersionUpdate(TypedDict, total=False):
    name: str | None
    description: str | None
    show_empty: bool | None
    bases: list[int] | None
    elemental_id: str | None
class VideoClip(TypedDict):
    file: TemporaryFile
    segment_start_frames: list[int]
    segment_end_frames: list[int]
class VideoDefinition(TypedDict, total=False):
    path: Required[str]
    codec: Required[str]
    resolution: Required[list[int]]
    size: int | None
    bit_rate: int | None
    segment_info: str | None
    host: str | None
    http_auth: str | None
    codec_mime: str | None
    codec_description: str | None
    reference_only: int | None
    bucket_id: int | None
class Webhook(TypedDict, total=False):
    id: Required[int]
    project: int | None
    organization: int | None
    name: Required[str]
    url: Required[str]
    types: Required[list[str]]
    query: str | None
    active: bool
    user: Required[int]
    created: Required[str]
    disabled_reason: Literal["algorithm_changed", "algorithm_missing", "error", "failing", "gone", "launches_itself", "owner_lost_access", "query_refused", "refused", "token_invalid"] | None
    disabled_details: str | None
    disabled_at: str | None
    previous_secret_until: str | None
    effective_permission: int
class WebhookCreated(TypedDict):
    message: str
    id: int
    secret: str
class WebhookSpec(TypedDict, total=False):
    name: Required[str]
    url: Required[str]
    types: Required[list[str]]
    query: str | None
    active: bool | None
class WebhookUpdate(TypedDict, total=False):
    name: str | None
    url: str | None
    types: list[str] | None
    query: str | None
    active: bool | None
class _Filters(TypedDict, total=False):
    attribute: list[str]
    attribute_contains: list[str]
    attribute_distance: list[str]
    attribute_gt: list[str]
    attribute_gte: list[str]
    attribute_lt: list[str]
    attribute_lte: list[str]
    attribute_null: list[str]
    encoded_search: str
    force_es: int
    operation: Literal["count"]
    search: str
    sort_by: list[str]
    start: int
    stop: int
    type: int
class AccumulationQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    frame: int
    label: Required[str]
    unit: str
class AnnotationTypeQuery(TypedDict, total=False):
    elemental_id: str
    media_id: list[int]
    type: int
class AudioFileQuery(TypedDict, total=False):
    role: Literal["audio"]
class AuditLogQuery(TypedDict, total=False):
    kind: Literal["account", "checkpoint", "deletion", "download", "export", "membership", "policy", "refusal", "share", "sign-in", "token"]
    user_id: int
    project: int
    operation: str
    network_address: str
    since: str
    before: str
    sort_by: Literal["-number", "number"]
    after: int
    stop: int
class AuxiliaryFileQuery(TypedDict, total=False):
    role: Literal["attachment"]
class BookmarkQuery(TypedDict, total=False):
    name: str
class CalibrationFile(TypedDict, total=False):
    file: str
    file_id: int
class ChangeLogQuery(TypedDict, total=False):
    user_id: int
    entity_id: int
    entity_type: Literal["leaf", "localization", "media", "state"]
    since: str
    before: str
    after: int
    stop: int
class ClipQuery(TypedDict, total=False):
    frame_ranges: Required[list[str]]
    quality: int
    reencode: int
    part: int
class CommentQuery(TypedDict, total=False):
    media_id: list[int]
    localization_id: int
    state_id: int
    frame: int
    parent: int
    resolved: bool
    mentions: int
    created_by: int
    start: int
    stop: int
class ComparisonQuery(TypedDict, total=False):
    base: Required[str]
    most_ids: int
class CountedLeafQuery(_Filters, total=False):
    name: str
    depth: int
    leaf_id: list[int]
    after: int
    ancestor: str
    count: int
class CountedLocalizationQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    frame: int
    count: int
class CountedStateQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    count: int
class CreateAudioFileQuery(TypedDict, total=False):
    role: Literal["audio"]
    index: int
    bucket_id: int
class CreateAuxiliaryFileQuery(TypedDict, total=False):
    role: Literal["attachment"]
    index: int
    bucket_id: int
class CreateImageFileQuery(TypedDict, total=False):
    role: Required[Literal["image", "thumbnail", "thumbnail_gif"]]
    index: int
    bucket_id: int
class CreateVideoFileQuery(TypedDict, total=False):
    role: Required[Literal["archival", "streaming"]]
    index: int
    bucket_id: int
class DeleteAudioFileQuery(TypedDict, total=False):
    role: Literal["audio"]
    index: Required[int]
class DeleteAuxiliaryFileQuery(TypedDict, total=False):
    role: Literal["attachment"]
    index: Required[int]
class DeleteImageFileQuery(TypedDict):
    role: Literal["image", "thumbnail", "thumbnail_gif"]
    index: int
class DeleteVideoFileQuery(TypedDict):
    role: Literal["archival", "streaming"]
    index: int
class DeliveryQuery(TypedDict, total=False):
    stop: int
    before: str
    failed: int
class DepthQuery(TypedDict, total=False):
    media_query: str
    file: Required[str]
    column: Required[str]
    time: str
    width: float
    longest: float
class DeviceCodeQuery(TypedDict):
    user_code: str
class DownloadInfoQuery(TypedDict, total=False):
    expiration: int
class EventQuery(TypedDict, total=False):
    after: str
    limit: int
    kinds: list[str]
    wait: float
class ExpiredQuery(TypedDict, total=False):
    expired: int
class FileQuery(_Filters, total=False):
    name: str
    after: int
    elemental_id: str
class FileUrlsQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    name: str
    dtype: Literal["image", "multi", "video"]
    md5: str
    gid: str
    uid: str
    after: int | str
    after_name: str
    archive_lifecycle: Literal["all", "archived", "live"]
    annotation_search: str
    dry_run: bool
    count: int
class FrameQuery(TypedDict, total=False):
    frames: list[int]
    tile: str
    roi: str
    force_scale: str
    animate: int
    quality: int
    part: int
    rectified_file: str
    rectified_file_id: int
class FrameTelemetryQuery(TypedDict, total=False):
    file: str
    columns: list[str]
    time: str
    start: str
    frame: int
    localization_id: int
    join: Literal["nearest", "preceding"]
    tolerance: float
class FrameTimesQuery(TypedDict, total=False):
    start: int
    stop: int
class FramesQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int | str
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    frame: int
    kind: Literal["localization", "state"]
    name: str
    dtype: Literal["image", "multi", "video"]
    md5: str
    gid: str
    uid: str
    after_name: str
    archive_lifecycle: Literal["all", "archived", "live"]
    annotation_search: str
    dry_run: bool
    count: int
class GetAudioFileQuery(TypedDict, total=False):
    role: Literal["audio"]
    index: Required[int]
class GetAuxiliaryFileQuery(TypedDict, total=False):
    role: Literal["attachment"]
    index: Required[int]
class GetImageFileQuery(TypedDict):
    role: Literal["image", "thumbnail", "thumbnail_gif"]
    index: int
class GetVideoFileQuery(TypedDict):
    role: Literal["archival", "streaming"]
    index: int
class GroupQuery(TypedDict, total=False):
    user: int
class HistoryQuery(TypedDict, total=False):
    after: int
    stop: int
class HoneypotScoreQuery(TypedDict, total=False):
    name: str
    user: int
    suspended: bool
class ImageFileQuery(TypedDict):
    role: Literal["image", "thumbnail", "thumbnail_gif"]
class JobGroupQuery(TypedDict, total=False):
    gid: str
class JobLogQuery(TypedDict, total=False):
    node: str
    lines: int
class JobQuery(TypedDict, total=False):
    gid: str
    media_id: list[int]
class LeafQuery(_Filters, total=False):
    name: str
    depth: int
    leaf_id: list[int]
    after: int
    ancestor: str
class LocalizationGraphicQuery(TypedDict, total=False):
    force_scale: str
    max_height: int
    use_default_margins: bool
    margin_x: int
    margin_y: int
    mask: bool
    part: int
class LocalizationListQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    frame: int
    interpolate: bool
class LocalizationQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    frame: int
class MarkQuery(TypedDict, total=False):
    mark: int
class MediaBulkQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    name: str
    dtype: Literal["image", "multi", "video"]
    md5: str
    gid: str
    uid: str
    after: int | str
    after_name: str
    archive_lifecycle: Literal["all", "archived", "live"]
    annotation_search: str
    count: int
class MediaListQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    name: str
    dtype: Literal["image", "multi", "video"]
    md5: str
    gid: str
    uid: str
    after: int | str
    after_name: str
    archive_lifecycle: Literal["all", "archived", "live"]
    annotation_search: str
    presigned: int
    no_cache: bool
    presign_only: list[Literal["archival", "attachment", "audio", "image", "streaming", "thumbnail", "thumbnail_gif"]]
class MediaQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    name: str
    dtype: Literal["image", "multi", "video"]
    md5: str
    gid: str
    uid: str
    after: int | str
    after_name: str
    archive_lifecycle: Literal["all", "archived", "live"]
    annotation_search: str
class NoticeQuery(TypedDict, total=False):
    unread: bool
class OneMediaQuery(TypedDict, total=False):
    presigned: int
    no_cache: bool
class OrganizationUploadQuery(TypedDict, total=False):
    expiration: int
    num_parts: int
class PermalinkQuery(TypedDict, total=False):
    element: Literal["archival", "audio", "auto", "image", "streaming", "thumbnail", "thumbnail_gif"]
    quality: int
class PresignedQuery(TypedDict, total=False):
    presigned: int
class ProjectQuery(TypedDict, total=False):
    organization: int
    elemental_id: str
class PublicProjectsQuery(TypedDict, total=False):
    start: int
    stop: int
class RowProtectionQuery(TypedDict, total=False):
    project: int
    media: int
    localization: int
    state: int
    file: int
    section: int
    algorithm: int
    version: int
    target_organization: int
    target_group: int
    job_cluster: int
    bucket: int
    hosted_template: int
    user: int
    organization: int
    group: int
class RowsQuery(TypedDict, total=False):
    media_id: Required[int]
    table: Literal["localizations", "states"]
class SectionName(TypedDict, total=False):
    name: str
class SectionQuery(TypedDict, total=False):
    name: str
    encoded_search: str
    elemental_id: str
    match: str
    ancestors: str
    descendants: str
class SightingsQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    frame: int
    label: Required[str]
    unit: str
    every: int
    interpolate: bool
class SignInQuery(TypedDict, total=False):
    email: str
class StateGraphicQuery(TypedDict, total=False):
    mode: Literal["animate", "tile"]
    fps: float
    force_scale: str
    length: int
    offset: int
    interpolate: bool
class StateQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
class StatisticsQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int | str
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    frame: int
    kind: Literal["localization", "media", "state"]
    name: str
    dtype: Literal["image", "multi", "video"]
    md5: str
    gid: str
    uid: str
    after_name: str
    archive_lifecycle: Literal["all", "archived", "live"]
    annotation_search: str
    group_by: list[str]
    measure: list[str]
    facets: list[str]
    order_by: list[str]
    limit: int
    fill: bool
    plot: Literal["bars", "heat", "lines"]
class StereoQuery(TypedDict, total=False):
    dry_run: bool
class SuggestionQuery(TypedDict, total=False):
    query: Required[str]
    min_level: int
class TaskQuery(TypedDict, total=False):
    name: str
    state: str
    media_id: list[int]
    assignee: int
    leased_by: int
    start: int
    stop: int
class TelemetryFileQuery(TypedDict, total=False):
    file: str
    columns: list[str]
    time: str
    start: str
class TelemetryQuery(_Filters, total=False):
    related_attribute: list[str]
    related_attribute_lt: list[str]
    related_attribute_lte: list[str]
    related_attribute_gt: list[str]
    related_attribute_gte: list[str]
    related_attribute_contains: list[str]
    related_attribute_distance: list[str]
    related_attribute_null: list[str]
    encoded_related_search: str
    section: int
    multi_section: list[int]
    media_id: list[int]
    elemental_id: str
    fields: str
    related_id: list[int]
    version: list[int]
    after: int | str
    merge: int
    show_deleted: int
    show_all_marks: int
    exclude_parents: int
    media_search: str
    media_query: str
    frame: int
    kind: Literal["localization", "media", "state"]
    name: str
    dtype: Literal["image", "multi", "video"]
    md5: str
    gid: str
    uid: str
    after_name: str
    archive_lifecycle: Literal["all", "archived", "live"]
    annotation_search: str
    dry_run: bool
    count: int
class TokenQuery(TypedDict):
    id: str
class TypeQuery(TypedDict, total=False):
    elemental_id: str
class UpdateAudioFileQuery(TypedDict, total=False):
    role: Literal["audio"]
    index: Required[int]
class UpdateAuxiliaryFileQuery(TypedDict, total=False):
    role: Literal["attachment"]
    index: Required[int]
class UpdateImageFileQuery(TypedDict):
    role: Literal["image", "thumbnail", "thumbnail_gif"]
    index: int
class UpdateVideoFileQuery(TypedDict):
    role: Literal["archival", "streaming"]
    index: int
class UploadInfoQuery(TypedDict, total=False):
    expiration: int
    num_parts: int
    media_id: int
    file_id: int
    filename: str
    bucket_id: int
class UsageQuery(TypedDict, total=False):
    since: str
class UserQuery(TypedDict, total=False):
    username: str
    email: str
    elemental_id: str
    presigned: int
class ValuesQuery(TypedDict, total=False):
    kind: Literal["file", "leaf", "localization", "media", "state"]
    dry_run: bool
class VersionQuery(TypedDict, total=False):
    media_id: list[int]
class VideoFileQuery(TypedDict):
    role: Literal["archival", "streaming"]
