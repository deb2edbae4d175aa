// SPDX-License-Identifier: Apache-2.0
/**
 * The service of the config daemon: its flags, and what it connects. main.ts is its process.
 */
import { createLinuxHost, defaultStateDirectory } from "@switchyard/host";
import { connectivityTimeoutText } from "@switchyard/policy";
import {
  durationMs,
  flag,
  integer,
  levelOfVerbosity,
  nodeFlags,
  runService,
  text,
  yesOrNo,
  type FlagKind,
} from "@switchyard/service";
import { connectToCluster } from "@switchyard/service/cluster";
import { join } from "node:path";
import { holdersFromFile } from "./kubelet/holders-file.ts";
import { openKubelet } from "./kubelet/open-kubelet.ts";
import { runDaemon } from "./daemon.ts";
import { readKubeletApiServer } from "./start/api-server.ts";
import { createLockCondition } from "./lock/lock-condition.ts";
import { takeLock } from "./lock/take-lock.ts";
import { defaultOvsdbAddress, ovsdbAddress } from "./start/ovsdb-address.ts";
import { findDamagedFiles } from "./start/damaged-files.ts";
import { noteStateDirectory, stateDirectoryKind } from "./start/state-directory.ts";
import { createSaveMemory, defaultMaxPfs, sizeThreadPool } from "./start/resources.ts";
import { ownProgram, runningFiles } from "./systemd/own-program.ts";
import { defaultMetadataUrl } from "./virtual/virtual-nics.ts";

/** The kubelet reports the node as not ready after 40 s without network. */
const connectivityTimeout: FlagKind<number> = {
  ...durationMs,
  expected: connectivityTimeoutText.expected,
  parse: (value) => (connectivityTimeoutText.isValid(value) ? durationMs.parse(value) : undefined),
};

/** Runs the daemon until SIGTERM, and returns the exit code of the process. */
export function runConfigDaemon(): Promise<number> {
  return runService({
    name: "config-daemon",
    summary: "Configures the NICs of one node as its SriovNetworkNodeState requires, and reports their state.",
    flags: {
      nodeName: nodeFlags.nodeName,
      hostRoot: nodeFlags.hostRoot,
      stateDirectory: flag(stateDirectoryKind, {
        default: defaultStateDirectory,
        env: "STATE_DIRECTORY",
        help: "Directory of the host, below --host-root, for the records of PFs. With another one, udev rules are in /run/udev/rules.d.",
      }),
      maxPfs: flag(integer({ minimum: 1, maximum: 64 }), {
        default: `${defaultMaxPfs}`,
        env: "MAX_PFS",
        help: "Number of PFs that are configured in parallel. Determines UV_THREADPOOL_SIZE unless that is set.",
      }),
      connectivityTimeout: flag(connectivityTimeout, {
        default: "30s",
        env: "CONNECTIVITY_TIMEOUT",
        help: "Time in which the network must work again after a change of a PF that carries traffic of the host. 0 undoes no change.",
      }),
      kubeletDirectory: flag(text("DIR"), {
        env: "KUBELET_DIRECTORY",
        help: "Directory of the kubelet, below --host-root. If not set, --root-dir of the running kubelet, or /var/lib/kubelet.",
      }),
      podName: flag(text("NAME"), { env: "POD_NAME", help: "Name of the pod in which this process runs." }),
      useExternalDrainer: flag(yesOrNo, {
        default: "false",
        env: "USE_EXTERNAL_DRAINER",
        help: "An external drainer, and not the operator, drains this node.",
      }),
      manageSoftwareBridges: flag(yesOrNo, {
        default: "false",
        env: "MANAGE_SOFTWARE_BRIDGES",
        help: "Create the software bridges of policies. Otherwise the daemon does not connect to Open vSwitch.",
      }),
      ovsdbSocketPath: flag(ovsdbAddress, {
        default: defaultOvsdbAddress,
        env: "OVSDB_SOCKET_PATH",
        help: "Socket of ovsdb-server, below --host-root. Used with --manage-software-bridges only.",
      }),
      vfHoldersFile: flag(text("FILE"), {
        env: "VF_HOLDERS_FILE",
        help: "File of the host, below --host-root, that says which pods have VFs. For nodes without a kubelet, which is not asked then.",
      }),
      useSystemdService: flag(yesOrNo, {
        default: "false",
        env: "USE_SYSTEMD_SERVICE",
        help: "The node is configured by systemd units while it boots. This process installs them and reboots the node.",
      }),
      unitsFromMachineConfig: flag(yesOrNo, {
        default: "false",
        env: "UNITS_FROM_MACHINE_CONFIG",
        help: "An OpenShift MachineConfig installs these units.",
      }),
      metadataUrl: flag(text("URL"), {
        default: defaultMetadataUrl,
        env: "METADATA_URL",
        help: "Metadata service of the cloud. Used on nodes whose providerID contains openstack or aws.",
      }),
      apiServerFrom: flag(text("FILE"), {
        env: "API_SERVER_FROM",
        help: "Kubeconfig of the kubelet. In a pod, its API server is used instead of the service address of the cluster.",
      }),
    },
    async main({ flags, log: processLog, setLogLevel, metrics, scrapes, signal, setNotReady, setNotAlive }) {
      const { hostRoot, nodeName, namespace, maxPfs, useExternalDrainer, maxCacheAge: maxCacheAgeMs } = flags;
      const { maxHanging } = sizeThreadPool(maxPfs);
      const ownPod = flags.podName === undefined ? undefined : { namespace, name: flags.podName };
      const { kubeconfig, apiServerFrom } = flags;
      if (apiServerFrom !== undefined && (await readKubeletApiServer(apiServerFrom)) === undefined) {
        processLog.warn(
          { path: apiServerFrom },
          "kubeconfig of the kubelet names no API server; using the service address",
        );
      }
      const findAddress = apiServerFrom === undefined ? undefined : () => readKubeletApiServer(apiServerFrom);
      await using connection = await connectToCluster({ kubeconfig, findAddress, log: processLog, metrics, scrapes });
      const { transport, log } = connection;
      const condition = createLockCondition({ transport, nodeName, namespace, now: () => new Date() });
      await using _lock = await takeLock({ hostRoot, podName: flags.podName, condition, log, setNotReady, signal });
      await using host = createLinuxHost(hostRoot, {
        onUnreadableRecord: (file) => {
          log.warn({ ...file }, "file is not a PF record; not used");
        },
        ovsdbAddress: flags.manageSoftwareBridges ? flags.ovsdbSocketPath : undefined,
        stateDirectory: flags.stateDirectory,
      });
      await noteStateDirectory(host.files, flags.stateDirectory);
      for (const file of await findDamagedFiles(host.files)) {
        log.warn({ ...file }, "file is not JSON; it counts as absent and is written again");
      }
      const onVerbosity = (verbosity: number | undefined): void => {
        setLogLevel(levelOfVerbosity(verbosity, flags.logLevel));
      };
      await runDaemon({
        transport,
        host,
        nodeName,
        namespace,
        maxPfs,
        maxHanging,
        useExternalDrainer,
        maxCacheAgeMs,
        log,
        metrics,
        metadataUrl: flags.metadataUrl,
        connectivityTimeoutMs: flags.connectivityTimeout,
        onVerbosity,
        setNotReady(check) {
          setNotReady(() => [...connection.problems(), ...check()]);
        },
        setNotAlive,
        signal,
        onFirstPass: createSaveMemory(),
        kubelet:
          flags.vfHoldersFile === undefined
            ? openKubelet(hostRoot, { directory: flags.kubeletDirectory, ownPod })
            : holdersFromFile(join(hostRoot, flags.vfHoldersFile)),
        systemdMode: flags.useSystemdService
          ? {
              program: () => ownProgram(runningFiles()),
              unitsFromMachineConfig: flags.unitsFromMachineConfig,
              ovsdbAddress: flags.manageSoftwareBridges ? flags.ovsdbSocketPath : undefined,
            }
          : undefined,
      });
    },
  });
}
