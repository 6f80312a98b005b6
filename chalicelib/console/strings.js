// Every sentence of the console, in English. A translation is another module with the same members.

/** @param {number} count @param {string} one @param {string} [many] */
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export const text = {
  // frame
  skip: "Skip to the content", home: "Limn, all projects", project: "Project", offline: "Offline: changes wait here", unsavedMedia: (/** @type {number} */ count) => `${plural(count, "media", "media")} with changes that are not saved`, dropElsewhere: "Files are dropped under Upload.", toUpload: "Go there",
  account: (/** @type {string} */ name) => `Account of ${name}`, profile: "Profile and tokens", apiDocs: "API documentation", signOut: "Sign out",
  theme: "Appearance", light: "Light", dark: "Dark", system: "As the system",
  tabs: { media: "Media", crops: "Crops", review: "Review", upload: "Upload", transfers: "Import and export", jobs: "Jobs", statistics: "Statistics", manage: "Manage" },
  // everywhere
  close: "Close", cancel: "Cancel", save: "Save", delete: "Delete", create: "Create", edit: "Edit", more: "More", loading: "Loading …", failed: "That did not work",
  again: "Try again", notAgain: (/** @type {string} */ why) => `This is what was read before. ${why}`, name: "Name", description: "Description", search: "Search", all: "All", none: "None", yes: "Yes", no: "No", back: "Back", done: "Done",
  noView: "There is no such page", noProject: (/** @type {string} */ id) => `There is no project ${id}.`, toProjects: "All projects", typeToConfirm: (/** @type {string} */ word) => `Type ${word} to confirm`,
  undo: "Undo", copied: "Copied", copy: "Copy", saved: "Saved", deleted: "Deleted",
  // sign in
  signIn: "Sign in", username: "User name", password: "Password", token: "API token", withPassword: "Password", withToken: "Token",
  signInLead: "Watch, draw, find and review video and images.", forgot: "Forgot the password?", resetLead: "We mail you a link to set a new password.",
  email: "Email address", sendLink: "Send the link", linkSent: "If the address has an account, a mail is on its way.", tokenHint: "It stays in this tab and ends with it.",
  // projects
  projects: "Projects", newProject: "New project", organization: "Organization", newOrganization: "New organization", organizations: "Organizations",
  noProjects: "No projects yet", noProjectsLead: "A project holds media, their annotations, and the types that describe them.",
  needOrganization: "A project belongs to an organization. Create one, or ask to be invited to one.", projectSummary: "What it is about",
  findProject: "Find a project", files: (/** @type {number} */ count) => plural(count, "file"), noMatch: "Nothing matches",
  // media
  allMedia: "All media", sections: "Sections", folders: "Folders", playlists: "Playlists", savedSearches: "Saved searches", filters: "Filters",
  noFolders: "No folders yet", noSavedSearches: "Search, then save the search", newFolder: "New folder", rename: "Rename", renameSection: "Rename the section",
  deleteSection: (/** @type {string} */ name) => `Delete ${name}?`, deleteSectionLead: "Its media stay in the project. It can be restored for 30 days.", actionsOf: (/** @type {string} */ name) => `Actions of ${name}`,
  searchMedia: "Search: words, Weather:Sun, _duration:>10, NOT Checked:true", clearSearch: "Clear the search", completions: "Completions", sort: "Sort",
  sortName: "Name", sortNameDown: "Name, Z first", sortNewest: "Newest first", sortOldest: "Oldest first", sortLongest: "Longest first", sortBy: (/** @type {string} */ name) => `By ${name}`,
  moreActions: "More actions", cardSize: "Size of the cards", sizes: { small: "Small", medium: "Medium", large: "Large" }, saveSearch: "Save this search", searchSaved: "The search is among the saved searches.",
  reload: "Reload", upload: "Upload", mediaCount: (/** @type {number} */ count) => `${count.toLocaleString("en")} media`, frames: (/** @type {number} */ count) => plural(count, "frame"),
  noMatchLead: "Change the search or remove a filter.", noMedia: "No media yet", noMediaLead: "Upload videos and images by dropping files or folders.",
  select: (/** @type {string} */ name) => `Select ${name}`, selection: "Selection", selected: (/** @type {number} */ count) => `${count.toLocaleString("en")} selected`, clearSelection: "Clear",
  editAttributes: "Edit attributes", editAttributesOf: (/** @type {string} */ count) => `Edit attributes of ${count}`, editManyLead: "Only the values that you set are changed.", editTypesLead: "The media are of several types: these are the attributes that all of them have.", noCommonAttributes: "They have no attribute in common.",
  moveTo: "Move to", moveInto: (/** @type {string} */ name) => `Move into ${name}`, moveToTop: "Move to the top", movedTo: (/** @type {string} */ name) => `Moved to ${name}`, noFolder: "No folder", deleteMedia: (/** @type {number} */ count) => `Delete ${plural(count, "media", "media")}?`,
  deleteMediaLead: "Their annotations are deleted with them. They can be restored for 30 days from the change history.", removeFilter: (/** @type {string} */ name, /** @type {string} */ value) => `Remove the filter ${name}: ${value}`, clearFilters: "Clear filters", mostFrequent: (/** @type {number} */ count) => `The most frequent of ${count.toLocaleString("en")}; search for others.`, findFolder: "Find a folder",
  // attributes
  wantsInteger: "Give a whole number.", wantsNumber: "Give a number.", atLeast: (/** @type {number} */ value) => `At least ${value}.`, atMost: (/** @type {number} */ value) => `At most ${value}.`,
  wantsDate: "Give a date and time.", wantsNumbers: "Give numbers with commas between.", wantsPlace: "Give latitude and longitude, such as 46.95, 7.44.", wantsCount: (/** @type {number} */ count) => `Give ${count} numbers.`,
  latitude: "latitude", longitude: "longitude", mapOf: (/** @type {string} */ name) => `Map of ${name}`, mapKeys: "Arrow keys move the place, + and - zoom.", mapLead: "Click a place.", mapCloser: "Closer", mapWider: "Wider",
  storedAs: (/** @type {[number, number]} */ [longitude, latitude]) => `Stored as [longitude, latitude]: [${longitude}, ${latitude}]`, binary: "Binary data",
  // crops
  types: "Types", version: "Version", allVersions: "All versions", searchCrops: "Search: Species:Rabbit, Confidence:<0.5, _frame:>100", sortFrame: "Frame", sortWidest: "Widest first",
  shapes: { box: "Box", line: "Line", dot: "Dot", poly: "Polygon" }, selectAllCrops: "Select all matches", selectAllOf: (/** @type {number} */ count) => `Select all ${count.toLocaleString("en")}`,
  relabelled: (/** @type {number} */ count) => `Changed ${plural(count, "annotation")}`, firstOfMany: (/** @type {number} */ count) => `The first ${count.toLocaleString("en")} are selected.`,
  deleteCrops: (/** @type {number} */ count) => `Delete ${plural(count, "annotation")}?`, deleteCropsLead: "They can be restored for 30 days from the change history.", setTo: (/** @type {string} */ name) => `Set ${name}`,
  cropCount: (/** @type {number} */ count) => plural(count, "crop"), noCropsLead: "Draw on media, or change the search.", noLocalizationTypes: "No types of shapes yet", noLocalizationTypesLead: "A type says which shape is drawn, and which attributes describe it.",
  cropName: (/** @type {string} */ label, /** @type {number} */ media, /** @type {number} */ frame) => `${label}, media ${media}, frame ${frame}`, openFrame: (/** @type {number} */ frame) => `Open frame ${frame}`,
  // upload
  dropHere: "Drop videos, images or folders here", dropLead: "Videos are transcoded, so that every frame can be seen and drawn on.", chooseFiles: "Choose files", chooseFolder: "Choose a folder", newFiles: "New files",
  videosBecome: "Videos become", imagesBecome: "Images become", intoFolder: "Folder", folderOfFiles: "As the folders dropped", uploadsDone: (/** @type {number} */ done, /** @type {number} */ failed) => [done && `${done.toLocaleString("en")} done`, failed && `${failed.toLocaleString("en")} failed`].filter(Boolean).join(", "), furtherLines: (/** @type {string} */ count) => `and ${count} more`, uploadsCount: (/** @type {number} */ count) => plural(count, "upload"),
  refusedFiles: (/** @type {number} */ count, /** @type {string} */ first) => `${plural(count, "file")} left out: ${first} is neither a video nor an image, or the project has no type for it.`,
  noMediaTypes: "No media types yet", noMediaTypesLead: "A media type describes videos or images. Create one, then upload.", addTypes: "Add types", pauseAll: "Pause all", resumeAll: "Resume all", clearDone: "Clear finished",
  pause: (/** @type {string} */ name) => `Pause ${name}`, resume: (/** @type {string} */ name) => `Resume ${name}`, removeUpload: (/** @type {string} */ name) => `Remove ${name} from the list`,
  uploadStatus: { waiting: "Waiting", hashing: "Reading", uploading: "Uploading", paused: "Paused", creating: "Storing", transcoding: "Transcoding", done: "Done", failed: "Failed" },
  // jobs
  kind: "Kind", algorithmJobs: "Algorithms", transcodes: "Transcodes", launch: "Launch", noJobs: "No jobs yet", noJobsLead: "Launch an algorithm over the media of a folder.", noTranscodes: "No transcodes", launchOf: (/** @type {number} */ count) => plural(count, "job"),
  cancelJob: "Cancel", cancelJobs: (/** @type {number} */ count) => `Cancel ${plural(count, "job")}?`, cancelThem: "Cancel them", canceled: "Canceled", progress: "Progress", log: "Log", logOf: (/** @type {string} */ name) => `Log of ${name}`, showMore: (/** @type {string} */ count) => `Show more of ${count}`, emptyLog: "Nothing was written.",
  launchAlgorithm: "Launch an algorithm", noAlgorithms: "No algorithm is registered in this project.", algorithm: "Algorithm", overMedia: "Over", jobsOf: (/** @type {string} */ media, /** @type {string} */ jobs) => `${media} media in ${jobs} jobs`, launched: (/** @type {string} */ name) => `${name} is launched.`,
  // manage
  manage: { "": "Project", types: "Types", leaves: "Label trees", members: "Members", versions: "Versions", algorithms: "Algorithms", applets: "Applets", history: "History", webhooks: "Webhooks", sources: "Bucket sources" }, organizationLead: "People, buckets, webhooks", files_: "Files", size: "Size", length: "Length", created: "Created", yourLevel: "Your level",
  editProject: "Edit the project", deleteProject: "Delete the project", deleteProjectLead: "Deletes its media and annotations.", dangerZone: "Deletion", projectBuckets: { bucket: "Bucket of files", upload_bucket: "Bucket of uploads", backup_bucket: "Bucket of backups" }, ownBucket: "The service's", enableDownloads: "Files may be downloaded", deleteNamed: (/** @type {string} */ name) => `Delete ${name}?`,
  membersLead: "Who may see, edit and manage this project.", addMember: "Add a member", add: "Add", userOrEmail: "User name or email address", userHint: "To invite a person without an account, open the organization.", noUser: (/** @type {string} */ who) => `There is no user ${who}.`, level: "Level", defaultVersion: "Default version",
  versionsLead: "Layers of annotations. A version shows what its bases hold, and what was drawn in it.", bases: "Bases", newVersion: "New version", nothingYet: "Nothing here yet", actions: "Actions",
  algorithmsLead: "Workflows that run over media.", registerAlgorithm: "Register an algorithm", filesPerJob: "Files per job", filesPerJobHint: "How many media one job gets.", categories: "Categories", onePerLine: "One per line", manifest: "Manifest", manifestHint: "An Argo workflow as YAML.", needManifest: "Choose a manifest.",
  appletsLead: "Pages of your own, shown inside the project. They run apart from the console and cannot see your token.", registerApplet: "Add an applet", openApplet: "Open", page: "Page", pageHint: "One HTML file with its scripts and styles inside.", needPage: "Choose a page.", emptyApplet: "The applet has no page",
  historyLead: "Who changed what, the newest first.", person: "Person", everyone: "Everyone", idOf: "Id", kinds: { media: "Media", localization: "Localizations", state: "Tracks and states", leaf: "Leaves" }, noChanges: "No changes match", userNumber: (/** @type {number} */ id) => `User ${id}`, theService: "The service",
  wasCreated: "created", wasDeleted: "deleted", wasChanged: "changed", changesOf: (/** @type {number} */ id) => `All changes of ${id}`,
  typesLead: "What media there are, what is drawn on them, and the attributes that describe it.", newType: "New type", noTypes: "No types yet", noTypesLead: "Begin with a media type for your videos or images.", usualLabel: "Label", usualTrack: "Track", usualTypes: "Add the usual types", usualTypesHint: "Videos, images, boxes with a label, and tracks. They can be changed.", typeKinds: { MediaType: "Media", LocalizationType: "Shapes", StateType: "Tracks and states", LeafType: "Label trees", FileType: "Files" },
  mediaKind: "Kind", video: "Video", image: "Image", multi: "Several videos", shape: "Shape", color: "Color", lineWidth: "Line width", association: "Belongs to", associations: { Localization: "Shapes (a track)", Frame: "Frames", Media: "A media" }, interpolation: "Interpolation", onMediaTypes: "On media of",
  deleteTypeLead: "Everything of this type is deleted with it.", deleteAttributeLead: "Its values disappear from everything of the type.", addAttribute: "Add an attribute", attribute: "Attribute", dtype: "Type", valuesOf: "Values", default: "Default", required: "required", choices: "Choices", minimum: "Minimum", maximum: "Maximum", arraySize: "Length", order: "Position", orderHint: "Below 0 is hidden by default.",
  dtypes: { string: "Text", enum: "Choice", bool: "Yes or no", int: "Whole number", float: "Number", datetime: "Date and time", geopos: "Place on a map", float_array: "Numbers", blob: "Binary data" },
  // profile
  tokens: "API tokens", tokensLead: "For scripts and the command line. A token is shown once.", newToken: "New token", endTokens: "End all earlier tokens", yourPassword: "Your password", tokenName: "Name of the new token", tokensOf: "Valid tokens", unnamed: "no name", present: "this session", revoke: "Revoke", revokeLead: "Scripts and sessions that use it are refused at once.", revoked: "The token is revoked.",
  passwordLead: "A new password ends all other tokens and sessions. Without the present one, a link is mailed to you.", presentPassword: "Present password", newPassword: "New password", changePassword: "Change the password", passwordChanged: "The password is changed.", mailReset: "Mail me a link",
  editProfile: "Edit the profile", firstName: "First name", lastName: "Last name", emailHint: "A new address counts once you open the link that is mailed to it.", addressMailed: "Saved. A new address has to be confirmed by the mail that was sent to it.", newPicture: "New picture",
  // organization
  people: "People", invite: "Invite a person", sendInvitation: "Send the invitation", invited: (/** @type {string} */ email) => `${email} is invited.`, invitations: "Invitations", status: "Status", editOrganization: "Edit the organization", defaultLevel: "Level in new projects",
  buckets: "Buckets", bucketsLead: "Object stores of your own, in which projects keep their files.", newBucket: "Register a bucket", noBuckets: "Projects use the bucket of the service", store: "Store", endpoint: "Endpoint", region: "Region", bucketName: "Name of the bucket", accessKey: "Access key", secretKey: "Secret key", googleKey: "Key of the service account (JSON)", externalHost: "Host that browsers use",
  // statistics
  annotations: "Annotations", allTypes: "All types", groupBy: "Group by", byType: "By type", byPerson: "By person", overTime: "Created per day", withoutValue: "no value", otherGroups: (/** @type {string} */ count) => `and ${count} in smaller groups`, downloadCsv: "Download CSV", daysOf: (/** @type {number} */ count) => plural(count, "day"),
  // transfers
  exports: "Exports", exportsLead: "Annotations and pictures as an archive that other tools read.", newExport: "New export", noExports: "No exports yet", exported: (/** @type {string} */ labels, /** @type {string} */ media) => `${labels} labels of ${media} media`,
  imports: "Imports", importsLead: "Annotations that other tools made.", newImport: "New import", noImports: "No imports yet", imported: (/** @type {string} */ labels, /** @type {string} */ media, /** @type {string} */ refused) => `${labels} annotations and ${media} media accepted, ${refused} refused`,
  cancelWork: "Cancel it?", report: "Report", download: "Download", dryRun: "trial", place: "Place", reason: "Reason", exportStarted: "The export is on its way.", export_: "Export", format: "Format", ofMedia: "Media",
  classesFrom: "Classes from", typeName: "The name of the type", classesHint: "Where a label has no value, its track's counts, then the name of its type.", pictures: "Pictures", noPictures: "None", labeledFrames: "Frames with labels", cropsOf: "Crops of boxes and polygons", everyFrame: "Every n-th frame", everyN: "n",
  splitMedia: "Divide the media into training and validation sets (80 : 20)", interpolateTracks: "Fill tracks between their frames", needArchive: "Choose an archive.", archive: "Archive", archiveHint: "A zip, or one file of the format.", findMedia: "Find media", byName: "By name", byPath: "By folder and name", byMd5: "By MD5 sum",
  sameVersion: "As in the archive, else the default", createMedia: "Pictures and videos in the archive that match nothing become media", plannedTypes: "Types and attributes that are created:", createTypes: "Create the types and attributes that the project lacks", dryRunLead: "Only try: read the archive and report, change nothing",
};
