// Every sentence of the console, in English. A translation is another module with the same members.

/** @param {number} count @param {string} one @param {string} [many] */
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

export const text = {
  // frame
  skip: "Skip to the content", home: "Limn, all projects", project: "Project", offline: "Offline: changes wait here",
  account: (/** @type {string} */ name) => `Account of ${name}`, profile: "Profile and tokens", apiDocs: "API documentation", signOut: "Sign out",
  theme: "Appearance", light: "Light", dark: "Dark", system: "As the system",
  tabs: { media: "Media", crops: "Crops", review: "Review", upload: "Upload", transfers: "Import and export", jobs: "Jobs", statistics: "Statistics", manage: "Manage" },
  // everywhere
  close: "Close", cancel: "Cancel", save: "Save", delete: "Delete", create: "Create", edit: "Edit", more: "More", loading: "Loading …", failed: "That did not work",
  again: "Try again", name: "Name", description: "Description", search: "Search", all: "All", none: "None", yes: "Yes", no: "No", back: "Back", done: "Done",
  noView: "There is no such page", toProjects: "All projects", typeToConfirm: (/** @type {string} */ word) => `Type ${word} to confirm`,
  copied: "Copied", copy: "Copy", saved: "Saved", deleted: "Deleted",
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
  deleteSection: (/** @type {string} */ name) => `Delete ${name}?`, deleteSectionLead: "Its media stay in the project.", actionsOf: (/** @type {string} */ name) => `Actions of ${name}`,
  searchMedia: "Search: words, Weather:Sun, _duration:>10, NOT Checked:true", clearSearch: "Clear the search", completions: "Completions", sort: "Sort",
  sortName: "Name", sortNameDown: "Name, Z first", sortNewest: "Newest first", sortOldest: "Oldest first", sortLongest: "Longest first", sortBy: (/** @type {string} */ name) => `By ${name}`,
  moreActions: "More actions", cardSize: "Size of the cards", sizes: { small: "Small", medium: "Medium", large: "Large" }, saveSearch: "Save this search", searchSaved: "The search is among the saved searches.",
  reload: "Reload", upload: "Upload", mediaCount: (/** @type {number} */ count) => `${count.toLocaleString("en")} media`, frames: (/** @type {number} */ count) => plural(count, "frame"),
  noMatchLead: "Change the search or remove a filter.", noMedia: "No media yet", noMediaLead: "Upload videos and images by dropping files or folders.",
  select: (/** @type {string} */ name) => `Select ${name}`, selection: "Selection", selected: (/** @type {number} */ count) => `${count.toLocaleString("en")} selected`, clearSelection: "Clear",
  editAttributes: "Edit attributes", editAttributesOf: (/** @type {string} */ count) => `Edit attributes of ${count}`, editManyLead: "Only the values that you set are changed.",
  moveTo: "Move to", movedTo: (/** @type {string} */ name) => `Moved to ${name}`, noFolder: "No folder", deleteMedia: (/** @type {number} */ count) => `Delete ${plural(count, "media", "media")}?`,
  deleteMediaLead: "Their annotations are deleted with them.", removeFilter: (/** @type {string} */ name, /** @type {string} */ value) => `Remove the filter ${name}: ${value}`, clearFilters: "Clear filters",
  // attributes
  wantsInteger: "Give a whole number.", wantsNumber: "Give a number.", atLeast: (/** @type {number} */ value) => `At least ${value}.`, atMost: (/** @type {number} */ value) => `At most ${value}.`,
  wantsDate: "Give a date and time.", wantsNumbers: "Give numbers with commas between.", wantsPlace: "Give latitude and longitude, such as 46.95, 7.44.", wantsCount: (/** @type {number} */ count) => `Give ${count} numbers.`,
  placeHint: "Latitude, longitude", binary: "Binary data",
};
