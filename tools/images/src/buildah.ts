// SPDX-License-Identifier: Apache-2.0
/**
 * buildImages builds images with buildah and exports each one as a directory with uncompressed layers. buildah's storage is
 * temporary: what an image contains does not depend on earlier builds.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { appImages, imageName, type AppName, type Architecture } from "./app-image.ts";

export interface BuildOptions {
  /** Directory that prepareContext has written. */
  readonly context: string;
  /** Directory for buildah's storage. */
  readonly work: string;
  readonly architecture: Architecture;
  /** The argument BASE of the Containerfile. */
  readonly base: string;
  readonly apps: readonly { readonly app: AppName; readonly to: string }[];
}

/** Rejects with ImagesError. */
export async function buildImages({ context, work, architecture, base, apps }: BuildOptions): Promise<void> {
  const storage = join(work, "storage");
  const policy = join(work, "policy.json");
  await mkdir(storage, { recursive: true });
  await writeFile(policy, '{ "default": [{ "type": "insecureAcceptAnything" }] }\n');
  // vfs needs no support of the kernel and also works in a container.
  const global = ["--storage-driver=vfs", "--root", join(storage, "root"), "--runroot", join(storage, "run")];
  const file = join(findWorkspaceRoot(), "tools/images/Containerfile");
  try {
    for (const { app, to } of apps) {
      const reference = `localhost/${imageName(app)}`;
      const build = ["--isolation=chroot", "--layers", "--timestamp=0", "--identity-label=false", "--format=oci"]
        .concat([
          "--signature-policy",
          policy,
          "--os=linux",
          `--arch=${architecture}`,
          `--target=${appImages[app].stage}`,
        ])
        .concat([`--build-arg=BASE=${base}`, `--build-arg=APP=${app}`, `--build-arg=TARGETARCH=${architecture}`]);
      await outputOf("buildah", [...global, "bud", ...build, "--tag", reference, "--file", file, context]);
      await outputOf("buildah", [...global, "push", "--signature-policy", policy, "-D", reference, `dir:${to}`]);
    }
  } finally {
    await rm(storage, { recursive: true, force: true });
  }
}
