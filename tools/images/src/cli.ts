// SPDX-License-Identifier: Apache-2.0
/** The command line of this tool: `npm run images -- [APP...] [OPTIONS]`. */
import { findWorkspaceRoot, renderTable, TestingError } from "@switchyard/testing";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  appImages,
  architectureNames,
  isAppName,
  isArchitecture,
  type AppName,
  type Architecture,
} from "./app-image.ts";
import { build, type BuiltImage } from "./build.ts";
import { updateLock } from "./debian/update-lock.ts";
import { compressions, type Compression } from "./oci/compress.ts";
import { push } from "./push.ts";
import { ImagesError } from "./images-error.ts";

const appNames = Object.keys(appImages).filter(isAppName);

const usage = `npm run images -- [APP...] [OPTIONS]: build the container images

Builds an image for each APP (default: all) with buildah, as root. The apps are
${appNames.join(", ")}.

  --arch LIST         architectures, separated by commas (default ${architectureNames.join(",")})
  --output DIR        directory for one OCI layout per image and images.json (default dist/images)
  --push PREFIX       push to a registry; "localhost:5000" gives localhost:5000/switchyard-operator
  --tag NAME          tag in that registry (default: the version)
  --base IMAGE        image with glibc and libstdc++ instead of Debian packages (without the tools of the config daemon)
  --compression KIND  ${compressions.join(" or ")} (default zstd; gzip is for registries that refuse zstd)
  --update-base       write the newest versions of Debian packages to tools/images/packages.lock.json, and build nothing

Exit codes: 0 built, 1 failed, 64 wrong usage.
`;

/** Returns the exit code of the process. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    await execute(args);
    return 0;
  } catch (error) {
    if (!(error instanceof ImagesError || error instanceof TestingError)) throw error;
    process.stderr.write(`images: ${error.message}\n`);
    return error.code === "bad-option" ? 64 : 1;
  }
}

async function execute(args: readonly string[]): Promise<void> {
  const { apps, architectures, output, compression, values } = parse(args);
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  if (values["update-base"] === true) {
    await updateLock(new Date());
    return;
  }
  const { base, push: prefix, tag } = values;
  const images = await build({ apps, architectures, output, compression, ...(base !== undefined && { base }) });
  process.stdout.write(formatTable(images));
  if (prefix === undefined) return;
  const references = await push(images, { output, prefix, ...(tag !== undefined && { tag }) });
  process.stdout.write(references.map((reference) => `${reference}\n`).join(""));
}

interface Parsed {
  readonly apps: readonly AppName[];
  readonly architectures: readonly Architecture[];
  readonly output: string;
  readonly compression: Compression;
  readonly values: ReturnType<typeof parseOptions>["values"];
}

function parse(args: readonly string[]): Parsed {
  const { values, positionals } = parseOptions(args);
  const list = (values.arch ?? architectureNames.join()).split(",");
  const { compression = "zstd", output = join(findWorkspaceRoot(), "dist/images") } = values;
  const known = compressions.find((name) => name === compression);
  if (known === undefined) throw wrong(`--compression must be ${compressions.join(" or ")}, not "${compression}"`);
  // In the table's order: the first image of a node is the config daemon's or the operator's.
  const wanted = positionals.length === 0 ? appNames : checkAll(positionals, isAppName, "app", appNames);
  return {
    apps: appNames.filter((name) => wanted.includes(name)),
    architectures: [...new Set(checkAll(list, isArchitecture, "architecture", architectureNames))],
    output,
    compression: known,
    values,
  };
}

function parseOptions(args: readonly string[]) {
  const options = {
    arch: { type: "string" },
    output: { type: "string" },
    push: { type: "string" },
    tag: { type: "string" },
    base: { type: "string" },
    compression: { type: "string" },
    "update-base": { type: "boolean" },
    help: { type: "boolean" },
  } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    // Node's error is of another realm in a test.
    const message = typeof cause === "object" && cause !== null && "message" in cause ? cause.message : cause;
    throw wrong(String(message), cause);
  }
}

function checkAll<T extends string>(
  names: readonly string[],
  isKnown: (name: string) => name is T,
  what: string,
  all: readonly T[],
): readonly T[] {
  return names.map((name) => {
    if (isKnown(name)) return name;
    throw wrong(`unknown ${what} "${name}"; known are ${all.join(", ")}`);
  });
}

function wrong(message: string, cause?: unknown): ImagesError {
  return new ImagesError("bad-option", `${message}\n\n${usage}`, cause);
}

/**
 * formatTable shows the sizes of images, and what a node downloads that has the images in the lines before.
 * Sizes are in MB (10^6 bytes). Images of an architecture are listed in the order of a node's downloads.
 */
export function formatTable(images: readonly BuiltImage[]): string {
  const head = ["image", "architecture", "size MB", "more MB", "layers (MB; = shared with an image above)", "digest"];
  const rows: string[][] = [];
  const stored = new Set<string>(); // of nodes of each architecture
  for (const { name, tag, digest, platforms } of images) {
    rows.push([`${name}:${tag}`, "all", "", "", "", digest]);
    for (const { architecture, digest: manifest, size, layers } of platforms) {
      const isStored = (layer: { readonly digest: string }) => stored.has(`${architecture} ${layer.digest}`);
      const shared = layers.filter(isStored);
      const more = size - shared.reduce((sum, layer) => sum + layer.size, 0);
      const sizes = layers.map((layer) => `${isStored(layer) ? "=" : ""}${megabytes(layer.size)}`);
      rows.push(["", architecture, megabytes(size), megabytes(more), sizes.join(" + "), manifest]);
      for (const layer of layers) stored.add(`${architecture} ${layer.digest}`);
    }
  }
  return `${renderTable(head, rows)}\n`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
