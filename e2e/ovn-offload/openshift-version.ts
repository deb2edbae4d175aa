// SPDX-License-Identifier: Apache-2.0
/**
 * setOpenshiftVersion does what the cluster version operator does when an update begins: it names the release in the status.
 * Usage: `await setOpenshiftVersion(place, "4.13.9");`
 */
import type { OffloadCluster } from "./offload-cluster.ts";

const path = "/apis/config.openshift.io/v1/clusterversions/version/status";

export async function setOpenshiftVersion({ api }: OffloadCluster, version: string): Promise<void> {
  const desired = { version, image: `example.com/release:${version}` };
  await api.patch(path, { status: { desired, observedGeneration: 1, versionHash: "x", availableUpdates: [] } });
}
