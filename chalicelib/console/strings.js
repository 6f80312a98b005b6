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
};
