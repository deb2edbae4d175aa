// SPDX-License-Identifier: Apache-2.0
/** startRegistry starts an image registry on a loopback port. Guests of the VM lab reach it at 10.0.2.2. */
import { goPrograms } from "@switchyard/go-programs";
import { eventually, findFreePorts, spawnGuarded } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** An image with one layer. */
export interface SmallImage {
  /** Directory with the files of the image. */
  readonly tree: string;
  readonly entryPoint: readonly string[];
}

export interface Registry extends AsyncDisposable {
  readonly port: number;
  /** Makes an image, pushes it as `name`, such as "tools:1", and returns its digest, such as "sha256:…". */
  push(name: string, image: SmallImage): Promise<string>;
  /** Copies an image, with a label that makes it another image, and returns the digest of the copy. */
  label(name: string, copy: string): Promise<string>;
  /** Directory for files that images are made of. It is deleted with the registry. */
  readonly directory: string;
}

/** Files keep their capabilities. */
const tarOptions = ["--owner=0", "--group=0", "--numeric-owner", "--xattrs", "--xattrs-include=security.capability"];

/** Disposing it deletes its images. */
export async function startRegistry(): Promise<Registry> {
  const crane = join(await goPrograms("crane"), "crane");
  const directory = await mkdtemp(join(tmpdir(), "switchyard-registry-"));
  const [port = 0] = await findFreePorts(1);
  const storage = join(directory, "images");
  await mkdir(storage, { recursive: true });
  const args = ["registry", "serve", "--address", `127.0.0.1:${port}`, "--disk", storage];
  const server = spawnGuarded(crane, args, { log: join(directory, "registry.log") });
  await eventually("the registry answers", async () => (await fetch(`http://127.0.0.1:${port}/v2/`)).ok);

  const run = async (...words: string[]): Promise<string> => (await promisify(execFile)(crane, words)).stdout.trim();
  const nameOf = (name: string): string => `127.0.0.1:${port}/${name}`;

  return {
    port,
    async push(name, { tree, entryPoint }) {
      const layer = join(directory, `${name.replaceAll(/\W/g, "-")}.tar`);
      await promisify(execFile)("tar", [...tarOptions, "-C", tree, "-cf", layer, "."]);
      await run("append", "--new_layer", layer, "--new_tag", nameOf(name));
      const entry = ["--entrypoint", entryPoint.join(","), "--set-platform", "linux/amd64"];
      await run("mutate", nameOf(name), ...entry, "--tag", nameOf(name));
      return run("digest", nameOf(name));
    },
    async label(name, copy) {
      await run("mutate", nameOf(name), "--platform", "linux/amd64", "--label", `copy=${copy}`, "--tag", nameOf(copy));
      return run("digest", nameOf(copy));
    },
    directory,
    async [Symbol.asyncDispose]() {
      await server.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
