// SPDX-License-Identifier: Apache-2.0
/** The page of images: each image of the chart with its version, and what was run or compared with it. */
import { images } from "../chart/images.ts";
import { code, table } from "../markdown.ts";
import { foreignPrograms } from "./foreign-programs.ts";

export function componentsPage(): string {
  const entries = Object.entries(images).map(([name, { default: reference }]) => ({
    name,
    reference: typeof reference === "string" ? reference : "",
  }));
  const foreign = foreignPrograms.map(({ image, version, checked, date, source }) => {
    const { reference = "" } = entries.find(({ name }) => name === image) ?? {};
    return [code(`images.${image}`), code(reference.replace(/:[^/]*$/, "")), version, checked, date, source];
  });
  const own = entries.filter(({ reference }) => isOwn(reference));
  const ownRows = own.map(({ name, reference }) => [code(`images.${name}`), code(reference)]);
  return [
    "# Components",
    "The images of the chart. `npm run images` builds Switchyard's own; `npm run e2e -- images` starts each of them, and " +
      "`npm run e2e -- cluster` runs them with a real kubelet.",
    table(["Value", "Image"], ownRows),
    "## Programs of other projects",
    "A test compares program, flags, probes and mounts of each rendered container with what the version accepts " +
      '(`tools/generate/src/reference/foreign-programs.ts`). Another version may accept others. "Not available to the tests" ' +
      "means that neither the image nor the module of this version can be downloaded by them.",
    table(["Value", "Image", "Version", "Run or compared", "When", "Source"], foreign),
    "`images.afxdpPlugins` has no default: afxdp-plugins-for-kubernetes publishes no image of a release. Its configuration was compared " +
      "with the answers of its program (`libs/admission/src/afxdp.test.ts`).",
  ].join("\n\n");
}

/** Images of Switchyard have no tag: the chart adds its version. */
function isOwn(reference: string): boolean {
  return reference.startsWith("ghcr.io/switchyard/");
}
