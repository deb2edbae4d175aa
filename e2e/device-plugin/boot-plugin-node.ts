// SPDX-License-Identifier: Apache-2.0
/**
 * bootPluginNode boots a node with a real kernel, the config daemon and everything in a device plugin's pod:
 * device-plugin-config as init container and as sidecar, and the real plugin. The plugin is restarted whenever it ends. A
 * fake kubelet records the plugin's announcements.
 */
import { namespace, type TestCluster } from "@switchyard/test-cluster";
import { bundleForGuest, type Guest, type GuestProcess } from "@switchyard/vm-lab";
import { bootGuestNode, type GuestDaemon } from "@switchyard/vm-lab/guest-node";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildPlugin, writePciIds } from "./run-plugin.ts";

/** What a plugin has announced to the kubelet about a resource. */
export interface Announcement {
  readonly devices: readonly string[];
  /** Device files that the kubelet gives a container with the first device. */
  readonly files: readonly string[];
  /** Number of announcements of this resource. */
  readonly count: number;
}

export interface PluginNode extends AsyncDisposable {
  readonly guest: Guest;
  startDaemon(): GuestDaemon;
  /** Starts device-plugin-config. Its log is on stderr. */
  startConfigurator(flags: readonly string[]): GuestProcess;
  /** Starts the plugin, which then runs as long as the guest. */
  startPlugin(): void;
  /** Returns the last announcement of the resource; undefined if no plugin serves it. */
  announced(resource: string): Announcement | undefined;
}

const pluginDirectory = "/var/lib/kubelet/device-plugins";
const configFile = "/etc/pcidp/config.json";

/** Restarts the plugin at once when it ends. A kubelet would restart the container with a delay. */
const pluginLoop = `while :; do
  HOME=/share /share/sriovdp -logtostderr -config-file ${configFile} -resource-prefix openshift.io
  echo "ended: $?" >&2; sleep 0.2
done`;

export async function bootPluginNode(testCluster: TestCluster, name: string): Promise<PluginNode> {
  await using stack = new AsyncDisposableStack();
  const node = stack.use(await bootGuestNode(testCluster, name));
  const { guest, share } = node;
  const configurator = await bundleForGuest("apps/device-plugin-config/src/main.ts");
  await cp(join(configurator, "main.mjs"), join(share, "configurator.mjs"));
  await cp(join(configurator, "chunks"), join(share, "chunks"), { recursive: true }); // next to the chunks of the daemon
  await cp(await buildPlugin(), share, { recursive: true });
  await writePciIds(share);

  const common = ["--kubeconfig", "/share/kubeconfig", "--namespace", namespace, "--node-name", name];
  const announcements = await startKubelet(guest);
  const owned = stack.move();
  return {
    guest,
    startDaemon: () => node.startDaemon(),
    startConfigurator: (flags) => guest.spawn(["node", "/share/configurator.mjs", ...common, ...flags]),
    startPlugin() {
      guest.spawn(pluginLoop).stderr.resume();
    },
    announced: (resource) => announcements.get(`openshift.io/${resource}`),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Starts the fake kubelet. Returns the announcements by the full name of the resource. */
async function startKubelet(guest: Guest): Promise<ReadonlyMap<string, Announcement>> {
  await guest.exec(`mkdir -p ${pluginDirectory} /var/run/k8s.cni.cncf.io/devinfo/dp`);
  const known = new Map<string, Announcement>();
  const counts = new Map<string, number>();
  const kubelet = guest.spawn(["/share/kubelet", pluginDirectory]);
  kubelet.stderr.resume();
  createInterface({ input: kubelet.stdout }).on("line", (line) => {
    const { resource, devices = [], files = [], gone = false } = JSON.parse(line) as KubeletLine;
    if (gone) {
      known.delete(resource);
      return;
    }
    const count = (counts.get(resource) ?? 0) + 1;
    counts.set(resource, count);
    known.set(resource, { devices, files, count });
  });
  return known;
}

/** A line of output of go/kubelet. */
interface KubeletLine {
  readonly resource: string;
  readonly devices?: readonly string[];
  readonly files?: readonly string[];
  readonly gone?: boolean;
}
