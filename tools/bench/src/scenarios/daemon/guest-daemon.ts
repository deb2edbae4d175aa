// SPDX-License-Identifier: Apache-2.0
/**
 * createGuestDaemon runs the bundled config daemon on a real kernel, in a guest of the VM lab. It connects to the API
 * server on this machine.
 */
import { compileCacheSettings, writeCompileCache } from "@switchyard/images";
import { memoryFlags, mallocVariables } from "@switchyard/service/memory";
import type { PodAccount } from "@switchyard/testing";
import { bundleForGuest, type Guest, type GuestProcess } from "@switchyard/vm-lab";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BenchCluster } from "../../cluster/bench-cluster.ts";
import { parseMemory, parseStat } from "../../harness/proc.ts";
import { BenchError, untilReady, type Run } from "../../harness/run.ts";
import { buildApp } from "../../harness/service.ts";
import { runInGuest } from "./baseline.ts";
import { createNodeUnderTest, nodeUnderTest, type DaemonUnderTest, type MeasuredKind } from "./node-under-test.ts";

export interface GuestDaemonOptions {
  readonly guest: Guest;
  /** Directory of this machine that the guest mounts at /share. It contains the bundle as main.js. */
  readonly share: string;
  /** Port of this machine that is forwarded to guestHealthPort in the guest. */
  readonly healthPort: number;
  readonly cpuProf: boolean;
  /** Additional flags of the daemon. */
  readonly flags?: readonly string[];
  /** SR-IOV by default. */
  readonly kind?: MeasuredKind | undefined;
  /** A device in sysfs that works while a refused change is measured; the first VF by default. */
  readonly workingDevice?: string | undefined;
}

/** The port in the guest on which the daemon serves /readyz. */
export const guestHealthPort = 8080;

/** Where the kubelet mounts the files of the service account. */
const accountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The directory in the guest with the bundle and its native packages. */
const program = "/root/config-daemon";

/** PCI address that the kernel gives the first VF of the first port. */
const firstVf = "/sys/bus/pci/devices/0000:01:10.0/";

export async function createGuestDaemon(
  run: Run,
  cluster: BenchCluster,
  options: GuestDaemonOptions,
): Promise<DaemonUnderTest> {
  const { guest, share, healthPort, cpuProf, flags: moreFlags = [] } = options;
  const node = await createNodeUnderTest(run, cluster, options.kind);
  const user = await cluster.user("daemon");
  await writeAccount(join(share, "serviceaccount"), user.pod);
  const inGuest = (script: string) => runInGuest(guest, script, run.signal);
  // As in an image: from a disk of the guest, and not over 9p, where each file takes many times as long to open.
  await inGuest(`cp -r /share ${program}`);
  await inGuest(`mkdir -p ${dirname(accountDirectory)} && cp -r /share/serviceaccount ${accountDirectory}`);
  // A node has Node.js in its page cache after the pull of the image, and no emulator that translates its code at the first run.
  await inGuest("node -e 0");
  const stopSeconds: number[] = [];
  let running: GuestProcess | undefined;
  let words = "";

  return {
    node,
    requests: user.requests,
    async start() {
      const { name, namespace } = nodeUnderTest;
      const profile = cpuProf ? "--cpu-prof --cpu-prof-interval=5000 --cpu-prof-dir=/share/prof" : "";
      const common = `--namespace ${namespace} --node-name ${name} --host-root / --health-address :${guestHealthPort}`;
      const flags = [common, ...moreFlags].join(" ");
      const malloc = Object.entries(mallocVariables).map((setting) => setting.join("="));
      const settings = [...compileCacheSettings(program), ...malloc].join(" ");
      // With the settings of the image. The shell execs the daemon, so that its pid is the daemon's.
      running = guest.spawn(
        `${podVariables(user.pod)}; echo $$ >/run/daemon.pid; ${settings} exec node ${memoryFlags.join(" ")} ${profile} ${program}/main.js ${flags}`,
      );
      const process = running;
      process.stdout.resume();
      process.stderr.setEncoding("utf8").on("data", (text: string) => (words = (words + text).slice(-4_000)));
      process.exitCode.then(
        (code) => {
          if (running === process) run.fail(new BenchError("ended", `the daemon ended with ${code}:\n${words}`));
        },
        (error: unknown) => {
          run.fail(error);
        },
      );
      await untilReady(`http://127.0.0.1:${healthPort}/readyz`, run.signal);
    },
    async stop() {
      const beginMs = performance.now();
      const process = running;
      running = undefined;
      process?.kill();
      await process?.exitCode;
      stopSeconds.push((performance.now() - beginMs) / 1000);
    },
    stopSeconds,
    async read() {
      const text = await inGuest("pid=$(cat /run/daemon.pid); cat /proc/$pid/stat /proc/$pid/status");
      const [stat = "", ...status] = text.split("\n");
      return { ...parseStat(stat), ...parseMemory(status.join("\n")) };
    },
    // A recreated device has another inode in sysfs, even at the same address.
    vfIdentity: () => inGuest(`stat -c %i ${options.workingDevice ?? firstVf}`),
    async flapLink() {
      const name = await inGuest("ls /sys/bus/pci/devices/0000:01:00.0/net | head -1");
      await inGuest(`ip link set ${name.trim()} up; ethtool -r ${name.trim()}`);
    },
    logEnd: () => words,
    firstWriteMs: () => undefined,
  };
}

/** Writes the files of the service account. */
async function writeAccount(directory: string, { token, authority, namespace }: PodAccount): Promise<void> {
  await mkdir(directory);
  const files = { token, "ca.crt": authority, namespace };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(directory, name), text)));
}

/** The address of this machine in guests. */
const hostAddress = "10.0.2.2";

/** A shell command that sets the variables by which a pod finds the API server. There, too, it has an address and no name. */
function podVariables({ server }: PodAccount): string {
  return `export KUBERNETES_SERVICE_HOST=${hostAddress} KUBERNETES_SERVICE_PORT=${new URL(server).port}`;
}

/**
 * Creates the directory that the guest mounts, until the end of the run: the daemon's bundle (main.js), the native packages
 * that it loads, and the compile cache of its image.
 */
export async function createGuestShare({ use }: Run): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "switchyard-bench-guest-"));
  use({ [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) });
  await cp(await bundleForGuest("apps/config-daemon/src/main.ts"), directory, { recursive: true });
  // Not the lab's own bundle, which contains a source map for debugging that would count as memory.
  await cp(dirname(await buildApp("config-daemon")), directory, { recursive: true });
  await writeCompileCache(directory, process.execPath);
  return directory;
}
