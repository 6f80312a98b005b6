// Fifteen steps with the client that openapi-generator's typescript-fetch makes: `node generated_client.js URL TOKEN`.

import * as limn from "./generated";

async function main(url: string, token: string): Promise<string[]> {
  const configuration = new limn.Configuration({ basePath: url, apiKey: `Token ${token}` });
  const steps: string[] = [];
  const passed = (step: string, isTrue: boolean): void => {
    if (!isTrue) throw new Error(`failed: ${step}`);
    steps.push(step);
  };
  const accounts = new limn.AccountsApi(configuration);
  passed("whoami", (await accounts.whoami()).username.length > 0);

  const organizations = new limn.OrganizationsApi(configuration);
  const stamp = `generated ${Date.now()}`;
  const organization: number = (await organizations.createOrganization({ organizationSpec: { name: stamp } })).id;
  const projects = new limn.ProjectsApi(configuration);
  const projectSpec = { name: stamp, organization };
  const project: number = (await projects.createProject({ projectSpec })).id;
  passed("create a project", (await projects.getProject({ id: project })).name === projectSpec.name);

  const types = new limn.TypesApi(configuration);
  const mediaTypeSpec: limn.MediaTypeSpec = { name: "Pictures", dtype: "image" };
  const mediaType: number = (await types.createMediaType({ project, mediaTypeSpec })).id;
  passed("create a media type", mediaType > 0);
  const localizationTypeSpec: limn.LocalizationTypeSpec = {
    name: "Boxes",
    dtype: "box",
    mediaTypes: [mediaType],
    attributeTypes: [{ name: "Depth", dtype: "float" }],
    colorMap: { _default: [255, 0, 0], defaultFill: { style: "blur" } },
  };
  const type: number = (await types.createLocalizationType({ project, localizationTypeSpec })).id;
  const held = await types.getLocalizationType({ id: type });
  passed("create a localization type", held.attributeTypes?.[0].name === "Depth");

  const version: number = (
    await new limn.VersionsApi(configuration).createVersion({ project, versionSpec: { name: "Second" } })
  ).id;
  passed("create a version", version > 0);

  const media = new limn.MediaApi(configuration);
  const mediaSpec: limn.MediaSpec[] = [{ type: mediaType, name: "a.png", md5: "" }];
  const mediaId: number = (await media.createMediaList({ project, mediaSpec })).id[0];
  passed("create a media", (await media.getMedia({ id: mediaId })).name === "a.png");
  const listed = await media.getMediaList({ project, name: "a.png" });
  passed("list media by name", listed.length === 1 && listed[0].id === mediaId);

  const boxes = new limn.LocalizationsApi(configuration);
  const at = (depth: number): limn.LocalizationSpec => ({
    mediaId, type, version, frame: 0, x: 0.25, y: 0.25, width: 0.5, height: 0.5, attributes: { Depth: depth },
  });
  const made = await boxes.createLocalizationList({ project, localizationSpec: [at(1), at(10), at(100)] });
  passed("create localizations", made.id.length === 3);
  const deep = await boxes.getLocalizationList({ project, attributeGt: ["Depth::5"], sortBy: ["-Depth"] });
  passed("list by an attribute", deep.map((box) => box.attributes?.["Depth"]).join() === "100,10");
  const byId = await boxes.getLocalizationListById({ project, localizationIdQuery: { ids: [made.id[0]] } });
  passed("list by ids", byId.length === 1 && byId[0].media === mediaId);
  passed("count", (await boxes.getLocalizationCount({ project, version: [version] })) === 3);
  await boxes.updateLocalization({ id: made.id[0], localizationUpdate: { x: 0.125, attributes: { Depth: 2 } } });
  passed("update", (await boxes.getLocalization({ id: made.id[0] })).x === 0.125);
  await boxes.deleteLocalizationList({ project, attributeGt: ["Depth::50"] });
  passed("delete by an attribute", (await boxes.getLocalizationCount({ project })) === 2);

  try {
    await boxes.updateLocalization({ id: made.id[0], localizationUpdate: { x: 7 } });
  } catch (error) {
    if (!(error instanceof limn.ResponseError)) throw error;
    const refusal = await error.response.json();
    passed("a refusal names the member", error.response.status === 400 && refusal.details.startsWith("x: "));
  }
  await projects.deleteProject({ id: project });
  const left = await projects.getProjectList();
  passed("delete the project", left.every((each) => each.id !== project));
  return steps;
}

main(process.argv[2], process.argv[3]).then(
  (steps) => console.log(steps.length),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
