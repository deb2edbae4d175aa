// SPDX-License-Identifier: Apache-2.0
/**
 * pushThirdPartyImages makes images of the programs of other projects that Switchyard deploys, because their own images
 * are not reachable from every machine. It also makes an image of busybox for pods of users and for the pause
 * containers.
 */
import { goPrograms } from "@switchyard/go-programs";
import { chmod, copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildPlugin, writePciIds } from "../device-plugin/run-plugin.ts";
import type { Registry } from "./registry.ts";

/** Names of the images in the registry, with digests. */
export interface ThirdPartyImages {
  readonly tools: string;
  readonly sriovCni: string;
  readonly devicePlugin: string;
  readonly resourcesInjector: string;
}

const applets = ["cat", "chmod", "cp", "ip", "kill", "ls", "mv", "ping", "sed", "sh", "sleep"];

/**
 * The plugin's last release that Go modules have (2.1.0) accepts configurations up to CNI 0.3.1, but networks are rendered for
 * 1.0.0, as for the releases that the Go operator deploys. This script stands before it and changes the version in the
 * configuration; nothing else.
 */
const olderVersion = `#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec "\${0%/*}/sriov-2.1.0" <<CONFIG
$(sed 's/"cniVersion": *"1\\.0\\.0"/"cniVersion":"0.3.1"/g')
CONFIG
`;

/** As the entry point of the plugin's own image: copies the plugin to the node, and ends with --no-sleep. */
const installPlugin = `#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
set -e
for file in sriov-2.1.0 sriov; do
  cp "/plugin/$file" "/host/opt/cni/bin/.$file"
  mv -f "/host/opt/cni/bin/.$file" "/host/opt/cni/bin/$file"
done
[ "$1" = --no-sleep ] || exec sleep 2147483647
`;

/** Makes a directory for the files of an image, with busybox (package busybox-static). */
export async function imageTree(registry: Registry, name: string): Promise<string> {
  const tree = join(registry.directory, name);
  await mkdir(join(tree, "bin"), { recursive: true });
  await mkdir(join(tree, "tmp"));
  await chmod(join(tree, "tmp"), 0o1777);
  await copyFile("/bin/busybox", join(tree, "bin/busybox"));
  for (const applet of applets) await symlink("busybox", join(tree, "bin", applet));
  return tree;
}

export async function pushThirdPartyImages(registry: Registry): Promise<ThirdPartyImages> {
  const treeOf = (name: string): Promise<string> => imageTree(registry, name);
  const push = async (name: string, tree: string, entryPoint: readonly string[]): Promise<string> =>
    `${name}@${await registry.push(`${name}:1`, { tree, entryPoint })}`;

  const tools = await treeOf("tools");
  const cni = await treeOf("sriov-cni");
  await mkdir(join(cni, "plugin"));
  await copyFile(join(await goPrograms("sriov-cni"), "sriov"), join(cni, "plugin/sriov-2.1.0"));
  await writeProgram(join(cni, "plugin/sriov"), olderVersion);
  await writeProgram(join(cni, "entrypoint.sh"), installPlugin);
  const plugin = await treeOf("device-plugin");
  await copyFile(join(await buildPlugin(), "sriovdp"), join(plugin, "bin/sriovdp"));
  await mkdir(join(plugin, "usr/share/misc"), { recursive: true });
  await writePciIds(join(plugin, "home"));
  await copyFile(join(plugin, "home/.cache/pci.ids"), join(plugin, "usr/share/misc/pci.ids"));

  const injector = await treeOf("network-resources-injector");
  await copyFile(join(await goPrograms("network-resources-injector"), "webhook"), join(injector, "bin/webhook"));

  return {
    tools: await push("tools", tools, ["/bin/sleep", "2147483647"]),
    sriovCni: await push("sriov-cni", cni, ["/entrypoint.sh"]),
    devicePlugin: await push("device-plugin", plugin, ["/bin/sriovdp"]),
    resourcesInjector: await push("network-resources-injector", injector, ["/bin/webhook"]),
  };
}

async function writeProgram(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o755);
}
