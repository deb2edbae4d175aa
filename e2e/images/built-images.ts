// SPDX-License-Identifier: Apache-2.0
/** Builds images with `npm run images`' program and unpacks them as a node does. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { findWorkspaceRoot } from "@switchyard/testing";

export type Architecture = "amd64" | "arm64";

/** An entry of images.json. */
export interface BuiltImage {
  readonly app: string;
  readonly name: string;
  readonly tag: string;
  readonly digest: string;
  readonly layout: string;
  readonly platforms: readonly {
    readonly architecture: Architecture;
    readonly digest: string;
    readonly size: number;
    readonly layers: readonly { readonly digest: string; readonly size: number }[];
    readonly sbom: string;
  }[];
}

/** The part of an image's configuration that a container runtime uses. */
export interface RunConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

/** Runs the program in an environment of its own. Rejects with the end of its output. */
export async function buildImages(
  output: string,
  args: readonly string[],
  { umask = "022", timeZone = "UTC" }: { readonly umask?: string; readonly timeZone?: string } = {},
): Promise<readonly BuiltImage[]> {
  const program = join(findWorkspaceRoot(), "tools/images/src/main.ts");
  const command = [
    "sh",
    "-c",
    `umask ${umask}; exec "$@"`,
    "sh",
    process.execPath,
    program,
    "--output",
    output,
    ...args,
  ];
  const child = spawn(command[0] ?? "", command.slice(1), {
    env: { ...process.env, TZ: timeZone },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const status = await new Promise((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`the build of images failed:\n${log.slice(-4000)}`);
  return JSON.parse(readFileSync(join(output, "images.json"), "utf8")) as readonly BuiltImage[];
}

/** Returns a JSON document of the image's layout. Throws if its content has another digest. */
export function readBlob(output: string, image: BuiltImage, digest: string): unknown {
  return JSON.parse(blob(output, image, digest).toString("utf8"));
}

/** Returns the configuration. */
export function configOf(output: string, image: BuiltImage, architecture: Architecture): RunConfig {
  const manifest = readBlob(output, image, platformOf(image, architecture).digest) as { config: { digest: string } };
  const { config } = readBlob(output, image, manifest.config.digest) as { config: RunConfig };
  return config;
}

/** Unpacks all layers into the directory `root`. */
export function unpackImage(output: string, image: BuiltImage, architecture: Architecture, root: string): void {
  mkdirSync(root, { recursive: true });
  for (const { digest } of platformOf(image, architecture).layers) {
    const input = zstdDecompressSync(blob(output, image, digest));
    const { status, stderr } = spawnSync("tar", ["-xpf", "-", "-C", root], { input, maxBuffer: 1 << 20 });
    if (status !== 0) throw new Error(`cannot unpack ${digest}: ${stderr.toString()}`);
  }
}

export function platformOf(image: BuiltImage, architecture: Architecture): BuiltImage["platforms"][number] {
  const found = image.platforms.find((platform) => platform.architecture === architecture);
  if (found === undefined) throw new Error(`${image.name} has no image for ${architecture}`);
  return found;
}

function blob(output: string, { layout }: BuiltImage, digest: string): Buffer {
  const content = readFileSync(join(output, layout, "blobs/sha256", digest.replace("sha256:", "")));
  const actual = `sha256:${createHash("sha256").update(content).digest("hex")}`;
  if (actual !== digest) throw new Error(`the blob ${digest} of ${layout} has the digest ${actual}`);
  return content;
}
