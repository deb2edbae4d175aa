// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpCni is the CNI plugin "afxdp" as the DaemonSet afxdp-plugins installs it: a link to a file with a name that only Switchyard uses.
 * A plugin of this name that somebody else installed is not changed.
 * Usage: `if ((await afxdpCni.find(host)).length > 0) await afxdpCni.remove(host);`
 */
import { ownAfxdpCni } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import type { OwnedPart } from "./owned-part.ts";

/** The directories of CNI plugins of Kubernetes and of OpenShift. */
const directories = ["/opt/cni/bin", "/var/lib/cni/bin"];

export const afxdpCni: OwnedPart = {
  find: async (host) => (await ownFiles(host)).map((path) => `remove ${path}`),
  async remove(host) {
    for (const path of await ownFiles(host)) await host.files.remove(path);
  },
};

/** The link comes before the file that it leads to. */
async function ownFiles({ files }: Host): Promise<readonly string[]> {
  const own: string[] = [];
  for (const directory of directories) {
    const link = `${directory}/afxdp`;
    const file = `${directory}/${ownAfxdpCni}`;
    if ((await files.readLink(link)) === ownAfxdpCni) own.push(link);
    if ((await files.readKind(file)) === "file") own.push(file);
  }
  return own;
}
