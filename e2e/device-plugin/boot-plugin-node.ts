// SPDX-License-Identifier: Apache-2.0
/**
 * A node on a real kernel with all that a device plugin's pod has: the config daemon, device-plugin-config in both
 * its ways, the real plugin, which is started again whenever it ends, and what it sees of a kubelet.
 * Usage: `await using node = await bootPluginNode(testCluster, "vm"); node.start(node.programs.daemon); node.announced("fast")`.
 */
import { createNode, namespace, type TestCluster } from "@switchyard/test-cluster";
import { bootGuest, bundleForGuest, type Guest, type GuestProcess } from "@switchyard/vm-lab";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildPlugin } from "./build-plugin.ts";
import { writePciIds } from "./run-plugin.ts";

/** What the kubelet knows of a resource. */
export interface Announcement {
  readonly devices: readonly string[];
  /** Files of the host that come with the first device. */
  readonly files: readonly string[];
  /** How many announcements of this resource there were. */
  readonly count: number;
}

export interface PluginNode extends AsyncDisposable {
  readonly guest: Guest;
  startDaemon(): GuestProcess;
  /** device-plugin-config, its log on stderr. */
  startConfigurator(flags: readonly string[]): GuestProcess;
  /** The plugin, for as long as the guest runs. */
  startPlugin(): void;
  /** Undefined while no plugin has the resource. */
  announced(resource: string): Announcement | undefined;
}

const pluginDirectory = "/var/lib/kubelet/device-plugins";
const configFile = "/etc/pcidp/config.json";

/** As the plugin's container does: what the kubelet would wait with is started again at once. */
const pluginLoop = `while :; do
  HOME=/share /share/sriovdp -logtostderr -config-file ${configFile} -resource-prefix openshift.io
  echo "ended: $?" >&2; sleep 0.2
done`;

export async function bootPluginNode(testCluster: TestCluster, name: string): Promise<PluginNode> {
  await using stack = new AsyncDisposableStack();
  const share = await mkdtemp(join(tmpdir(), "switchyard-guest-"));
  stack.defer(() => rm(share, { recursive: true, force: true }));
  await cp(await bundleForGuest("apps/config-daemon/src/main.ts"), share, { recursive: true });
  const configurator = await bundleForGuest("apps/device-plugin-config/src/main.ts");
  await cp(join(configurator, "main.mjs"), join(share, "configurator.mjs"));
  await cp(join(configurator, "chunks"), join(share, "chunks"), { recursive: true }); // beside those of the daemon
  await cp(await buildPlugin(), share, { recursive: true });
  await writePciIds(share);
  await writeFile(join(share, "kubeconfig"), await kubeconfigForGuest(testCluster));
  const guest = stack.use(await bootGuest({ udev: true, share }));
  await createNode(testCluster, name);

  const common = ["--kubeconfig", "/share/kubeconfig", "--namespace", namespace, "--node-name", name];
  const announcements = await startKubelet(guest);
  const owned = stack.move();
  return {
    guest,
    startDaemon() {
      const daemon = guest.spawn(["node", "/share/main.mjs", ...common, "--host-root", "/"]);
      daemon.stderr.resume();
      return daemon;
    },
    startConfigurator: (flags) => guest.spawn(["node", "/share/configurator.mjs", ...common, ...flags]),
    startPlugin() {
      guest.spawn(pluginLoop).stderr.resume();
    },
    announced: (resource) => announcements.get(`openshift.io/${resource}`),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What it knows, by the resource's whole name. */
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

/** As go/kubelet prints it. */
interface KubeletLine {
  readonly resource: string;
  readonly devices?: readonly string[];
  readonly files?: readonly string[];
  readonly gone?: boolean;
}

/** The API server as the guest reaches it (slirp's address of the host), under the name in the server's certificate. */
async function kubeconfigForGuest({ cluster }: TestCluster): Promise<string> {
  const text = await readFile(cluster.kubeconfig, "utf8");
  const server = cluster.server.replace("127.0.0.1", "10.0.2.2");
  return text.replace(`"server": "${cluster.server}"`, `"server": "${server}", "tls-server-name": "localhost"`);
}
