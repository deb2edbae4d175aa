// SPDX-License-Identifier: Apache-2.0
/**
 * packageChart makes the archive of the Helm chart, and pushChart stores it in an OCI registry, both with Helm 4.
 */
import { outputOf } from "@switchyard/testing";
import { goPrograms } from "@switchyard/go-programs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { ReleaseError } from "../release-error.ts";
import { isLoopback } from "../sign/sign-artifact.ts";
import { readVersion } from "../version/product-version.ts";
import { pinImages, type PinOptions } from "./image-digests.ts";

const chartFolder = "charts/switchyard";

export interface PackageOptions {
  /** Directory of the archive. */
  readonly output: string;
  /** Time of the files, in seconds. */
  readonly epoch: number;
  /** Returns the digest of an image of the release. Without it, images have their tags only. */
  readonly digestOf?: PinOptions["digestOf"] | undefined;
}

/** Returns the path of the archive. Rejects if Chart.yaml has another version than package.json, or if lint fails. */
export async function packageChart(root: string, { output, epoch, digestOf }: PackageOptions): Promise<string> {
  const version = await readVersion(root);
  const stated = parse(await readFile(join(root, chartFolder, "Chart.yaml"), "utf8")) as Readonly<
    Record<string, unknown>
  >;
  for (const field of ["version", "appVersion"]) {
    if (stated[field] === version) continue;
    throw new ReleaseError(
      "failed",
      `${chartFolder}/Chart.yaml: ${field} must be "${version}", the version in package.json`,
    );
  }
  const helm = join(await goPrograms("helm4"), "helm");
  await outputOf(helm, ["lint", "--strict", join(root, chartFolder)]);
  await mkdir(output, { recursive: true });
  const draft = await mkdtemp(join(tmpdir(), "switchyard-chart-"));
  try {
    const copy = join(draft, "switchyard");
    await cp(join(root, chartFolder), copy, { recursive: true });
    if (digestOf !== undefined) await pinImages(copy, { version, digestOf });
    await setTimes(copy, epoch);
    await outputOf(helm, ["package", copy, "--destination", resolve(output)]);
  } finally {
    await rm(draft, { recursive: true });
  }
  return join(resolve(output), `switchyard-${version}.tgz`);
}

/** Helm keeps the times of files in the archive: with one time, the same chart gives the same bytes. */
async function setTimes(directory: string, epoch: number): Promise<void> {
  const entries = await readdir(directory, { recursive: true });
  for (const entry of [...entries, ""]) await utimes(join(directory, entry), epoch, epoch);
}

/** Pushes the archive below `repository`, "ghcr.io/switchyard/charts", and returns its reference with the digest. */
export async function pushChart(archive: string, repository: string): Promise<string> {
  const helm = join(await goPrograms("helm4"), "helm");
  const name = `${repository}/switchyard`;
  const plain = isLoopback(name) ? ["--plain-http"] : [];
  const said = await outputOf(helm, ["push", archive, `oci://${repository}`, ...plain]);
  const digest = /sha256:[0-9a-f]{64}/.exec(said)?.[0];
  if (digest === undefined) throw new ReleaseError("failed", `helm push: no digest in its output: ${said.trim()}`);
  return `${name}@${digest}`;
}
