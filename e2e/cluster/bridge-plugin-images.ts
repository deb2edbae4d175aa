// SPDX-License-Identifier: Apache-2.0
/**
 * pushBridgePlugins makes images of the CNI plugins that attach representors to bridges. The plugin ovs is the real one. A program
 * that does what its documentation says plays accelerated-bridge, which is not available as a Go module. The files lie in the
 * images where the chart's commands look for them.
 */
import { goPrograms } from "@switchyard/go-programs";
import { findWorkspaceRoot } from "@switchyard/testing";
import { chmod, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { registryName } from "./kube-cluster.ts";
import type { Registry } from "./registry.ts";
import { imageTree } from "./third-party-images.ts";

/** Values `images` of the chart. */
export interface BridgePluginImages {
  readonly ovsCni: string;
  readonly acceleratedBridgeCni: string;
}

/** Names in the module's `cmd` -> names in the image. */
const ovsPrograms = {
  plugin: "ovs",
  "mirror-producer": "ovs-mirror-producer",
  "mirror-consumer": "ovs-mirror-consumer",
} as const;

export async function pushBridgePlugins(registry: Registry): Promise<BridgePluginImages> {
  const ovs = await imageTree(registry, "ovs-cni");
  const built = await goPrograms("ovs-cni");
  for (const [from, to] of Object.entries(ovsPrograms)) await copyFile(join(built, from), join(ovs, to));

  const bridge = await imageTree(registry, "accelerated-bridge-cni");
  const program = join(bridge, "usr/bin/accelerated-bridge");
  await mkdir(join(bridge, "usr/bin"), { recursive: true });
  await copyFile(join(findWorkspaceRoot(), "e2e/cluster/accelerated-bridge.mjs"), program);
  await chmod(program, 0o755);

  const push = async (name: string, tree: string): Promise<string> =>
    `${registryName}/${name}@${await registry.push(`${name}:1`, { tree, entryPoint: ["/bin/sleep", "2147483647"] })}`;
  return {
    ovsCni: await push("ovs-cni", ovs),
    acceleratedBridgeCni: await push("accelerated-bridge-cni", bridge),
  };
}
