// SPDX-License-Identifier: Apache-2.0
/** Labels and annotations of the images: names of the OCI image specification. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { appImages, imageName, type AppName } from "./app-image.ts";
import { ImagesError } from "./images-error.ts";

export interface Metadata {
  /** Version in the root package.json, which is also the tag. */
  readonly version: string;
  /** RFC 3339: SOURCE_DATE_EPOCH, otherwise the time of the last commit. */
  readonly created: string;
  readonly labels: (app: AppName) => Readonly<Record<string, string>>;
}

/** The repository, also the beginning of identifiers. */
export const source = "https://github.com/switchyard/switchyard";

/** Without git, SOURCE_DATE_EPOCH defaults to 0, and there is no revision. Rejects with ImagesError. */
export async function readMetadata(env: NodeJS.ProcessEnv = process.env): Promise<Metadata> {
  const root = findWorkspaceRoot();
  const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : "";
  if (typeof version !== "string" || version === "") {
    throw new ImagesError("unexpected-content", `${root}/package.json has no version`);
  }
  const git = (...args: string[]) =>
    outputOf("git", ["-C", root, ...args])
      .then((text) => text.trim())
      .catch(() => undefined);
  const revision = await git("rev-parse", "HEAD");
  const changes = await git("status", "--porcelain");
  const epoch = env["SOURCE_DATE_EPOCH"] ?? (await git("log", "-1", "--format=%ct")) ?? "0";
  if (!/^\d{1,11}$/.test(epoch)) {
    throw new ImagesError("bad-option", `SOURCE_DATE_EPOCH must be a number of seconds, not "${epoch}"`);
  }
  const created = new Date(Number(epoch) * 1000).toISOString().replace(".000Z", "Z");
  return {
    version,
    created,
    labels: (app) => ({
      "org.opencontainers.image.title": imageName(app),
      "org.opencontainers.image.description": appImages[app].description,
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.created": created,
      // A build of changed files is none of the revision.
      ...(revision !== undefined && { "org.opencontainers.image.revision": revision + (changes ? "-dirty" : "") }),
      "org.opencontainers.image.source": source,
      "org.opencontainers.image.vendor": "Switchyard",
      "org.opencontainers.image.licenses": "Apache-2.0",
    }),
  };
}
