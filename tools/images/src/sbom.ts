// SPDX-License-Identifier: Apache-2.0
/**
 * createSbom lists the packages of an image, and each of its files with the package it comes from, as SPDX 2.3
 * (https://spdx.github.io/spdx-spec/v2.3/). The files are those of the build context, from which buildah makes the layers.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { imageName, type AppName, type Architecture } from "./app-image.ts";
import type { ContextParts } from "./build-context.ts";
import type { UnpackedSet } from "./debian/unpack.ts";
import { source, type Metadata } from "./metadata.ts";
import type { NpmPackage } from "./npm-package.ts";

export interface SbomOptions {
  readonly app: AppName;
  readonly architecture: Architecture;
  /** Directory that prepareContext has written, and what it is made of. */
  readonly context: string;
  readonly parts: ContextParts;
  readonly metadata: Metadata;
  /** Digest of the image's manifest. */
  readonly digest: string;
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Package URL: https://github.com/package-url/purl-spec */
  readonly purl: string;
}

interface File {
  readonly path: string;
  readonly sha1: string;
  readonly sha256: string;
  /** The purl of its package. */
  readonly owner: string;
}

const none = "NOASSERTION";

/** Returns the document as an object for JSON. */
export async function createSbom(options: SbomOptions): Promise<object> {
  const { app, architecture, context, parts, metadata, digest } = options;
  const name = imageName(app);
  const own: Package = {
    name,
    version: metadata.version,
    license: "Apache-2.0",
    purl: `pkg:generic/${name}@${metadata.version}`,
  };
  const node: Package = { ...parts.node, name: "node", purl: `pkg:generic/nodejs@${parts.node.version}` };
  const { tools, native } = parts.apps.get(app) ?? { tools: undefined, native: [] };
  const appDirectory = join(context, "app", app, architecture);
  const bundled = await bundledPackages(appDirectory);
  const debian = [parts.base, tools].flatMap((set) => set?.packages.map((entry) => debianPackage(entry, architecture)));
  const packages = [own, node, ...native.map(npmPurl), ...bundled, ...debian.filter((entry) => entry !== undefined)];

  const debianOwner = (set: UnpackedSet | undefined) => (path: string) => {
    const entry = set?.packages.find((candidate) => candidate.name === set.owners[path]);
    return entry === undefined ? own.purl : debianPackage(entry, architecture).purl; // files of tools/images/rootfs
  };
  const nativeOwner = (path: string) =>
    native.map(npmPurl).find((entry) => path.startsWith(`app/node_modules/${entry.name}/`))?.purl ?? own.purl;
  const files = [
    ...(await filesIn(join(context, "debian", architecture), debianOwner(parts.base))),
    ...(await filesIn(join(context, "node", architecture), () => node.purl)),
    ...(tools === undefined ? [] : await filesIn(join(context, "tools", app, architecture), debianOwner(tools))),
    ...(await filesIn(appDirectory, nativeOwner)),
  ];
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${name}-${metadata.version}-${architecture}`,
    documentNamespace: `${source}/sbom/${name}/${digest}`,
    creationInfo: { created: metadata.created, creators: [`Tool: switchyard-images-${metadata.version}`] },
    documentDescribes: ["SPDXRef-Image"],
    packages: [
      imagePackage(name, metadata.version, digest),
      ...packages.map((entry) =>
        spdxPackage(
          entry,
          files.filter(({ owner }) => owner === entry.purl),
        ),
      ),
    ],
    files: files.map(spdxFile),
    relationships: [
      { spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: "SPDXRef-Image" },
      ...packages.map((entry) => contains("SPDXRef-Image", packageId(entry.purl))),
      ...files.map((file) => contains(packageId(file.owner), fileId(file.path))),
    ],
  };
}

/** third-party.json is written by tools/nx/third-party.js. Apps without bundled packages have none. */
async function bundledPackages(app: string): Promise<readonly Package[]> {
  const text = await readFile(join(app, "app/third-party.json"), "utf8").catch(() => "[]");
  return (JSON.parse(text) as Omit<NpmPackage, "directory">[]).map(npmPurl);
}

function npmPurl({ name, version, license }: Omit<NpmPackage, "directory">): Package {
  return { name, version, license, purl: `pkg:npm/${name.replace("@", "%40")}@${version}` };
}

function debianPackage({ name, version }: UnpackedSet["packages"][number], architecture: Architecture): Package {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-13`;
  return { name, version, license: none, purl };
}

async function filesIn(directory: string, ownerOf: (path: string) => string): Promise<readonly File[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files: File[] = [];
  for (const file of paths.sort()) {
    const content = await readFile(file);
    const hash = (algorithm: string) => createHash(algorithm).update(content).digest("hex");
    const path = relative(directory, file);
    files.push({ path, sha1: hash("sha1"), sha256: hash("sha256"), owner: ownerOf(path) });
  }
  return files;
}

function imagePackage(name: string, version: string, digest: string): object {
  return {
    SPDXID: "SPDXRef-Image",
    name,
    versionInfo: version,
    primaryPackagePurpose: "CONTAINER",
    downloadLocation: none,
    filesAnalyzed: false,
    licenseConcluded: none,
    licenseDeclared: none,
    copyrightText: none,
    externalRefs: [purlReference(`pkg:oci/${name}@${encodeURIComponent(digest)}`)],
  };
}

function spdxPackage({ name, version, license, purl }: Package, files: readonly File[]): object {
  // Section 7.9 of the specification: the digest of the sorted digests.
  const sums = files.map(({ sha1 }) => sha1).sort();
  const packageVerificationCodeValue = createHash("sha1").update(sums.join("")).digest("hex");
  return {
    SPDXID: packageId(purl),
    name,
    versionInfo: version,
    downloadLocation: none,
    ...(files.length === 0
      ? { filesAnalyzed: false } // part of a bundle
      : { filesAnalyzed: true, packageVerificationCode: { packageVerificationCodeValue } }),
    licenseConcluded: none,
    licenseDeclared: license,
    copyrightText: none,
    externalRefs: [purlReference(purl)],
  };
}

function spdxFile({ path, sha1, sha256 }: File): object {
  return {
    SPDXID: fileId(path),
    fileName: `./${path}`,
    checksums: [
      { algorithm: "SHA1", checksumValue: sha1 },
      { algorithm: "SHA256", checksumValue: sha256 },
    ],
    licenseConcluded: none,
    copyrightText: none,
  };
}

function purlReference(purl: string): object {
  return { referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl };
}

function contains(spdxElementId: string, relatedSpdxElement: string): object {
  return { spdxElementId, relationshipType: "CONTAINS", relatedSpdxElement };
}

/** An SPDX identifier has letters, digits, "." and "-" only. */
function packageId(purl: string): string {
  return `SPDXRef-Package-${purl.replace(/^pkg:/, "").replaceAll(/[^A-Za-z0-9.]+/g, "-")}-${shortHash(purl)}`;
}

function fileId(path: string): string {
  return `SPDXRef-File-${shortHash(path)}`;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
