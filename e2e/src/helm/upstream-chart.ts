// SPDX-License-Identifier: Apache-2.0
/**
 * upstreamChart returns the directory of upstream's chart of a release, from the Go module of that release. Nothing of
 * it is in this repository: Go downloads the module into its cache, and its checksum must be the one below.
 * Usage: `await helm.run(["install", "sriov", await upstreamChart("1.6.0")]);`
 */
import { downloadGoModule } from "@switchyard/testing";
import { join } from "node:path";

/** The releases whose way to Switchyard is tested. */
export type UpstreamRelease = keyof typeof checksums;

/** Checksum of the module of each release, as go.sum has it. */
const checksums = {
  "1.3.0": "h1:hQ9xI/SQN3bz1CrSbKByVZX/cc8IvWoaN7+OGmLFKUU=",
  "1.4.0": "h1:s7lf2nexiEbDJwmmhX5+ML8eVaU3XwvmMmY1gu92k+0=",
  "1.5.0": "h1:xH8g2P+L99qZjAu/rPikxe483vhpUoJ9+j7yU4JhDlw=",
  "1.6.0": "h1:rzxyQm7Blreak47QCxvUEscTWgFzp+rBPcKXy5RewgE=",
} as const;

/** All of them, the oldest first. */
export const upstreamReleases = Object.keys(checksums).filter((name): name is UpstreamRelease => name in checksums);

/** Rejects if Go is missing, the module cannot be downloaded, or its checksum differs. */
export async function upstreamChart(release: UpstreamRelease): Promise<string> {
  const module = `github.com/k8snetworkplumbingwg/sriov-network-operator@v${release}`;
  const directory = await downloadGoModule(module, checksums[release]);
  return join(directory, "deployment/sriov-network-operator-chart");
}
