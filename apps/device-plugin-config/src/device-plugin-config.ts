// SPDX-License-Identifier: Apache-2.0
/**
 * The service beside a device plugin: its init container with --wait, its follower without. main.ts is its process. What only the
 * plugin for AF_XDP needs is loaded for it only.
 */
import {
  operatorConfigName,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { createLinuxBoot, createLinuxSriovSysfs } from "@switchyard/host/sysfs";
import { watchObjects, type Transport } from "@switchyard/kube";
import type { PodName } from "@switchyard/kubelet";
import { levelOfVerbosity, runService, type Logger } from "@switchyard/service";
import { connectToCluster, createFailureLog } from "@switchyard/service/cluster";
import { readOfferedVfs } from "./config-file.ts";
import { devicePluginConfigFlags } from "./device-plugin-config-flags.ts";
import { createHandOver } from "./hand-over.ts";
import { keepConfigured, type ConfigurePluginOptions } from "./keep-configured.ts";
import { createPluginReconciler } from "./plugin-reconciler.ts";
import { watchPublishedVfs } from "./published-vfs.ts";
import { createRegistration } from "./registered-resources.ts";
import { createWithholding, kubeletHolders } from "./withheld-vfs.ts";

interface FollowLogLevelOptions {
  readonly transport: Transport;
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly log: Logger;
  /** Called with spec.logLevel and with each change of it; undefined if it is not set. */
  readonly onVerbosity: (verbosity: number | undefined) => void;
}

/** Must stay the same in all releases. */
const manager = "switchyard-device-plugin-config";

/** Runs until the configuration is written (--wait) or until SIGTERM, and returns the exit code of the process. */
export function runDevicePluginConfig(): Promise<number> {
  return runService({
    name: "device-plugin-config",
    summary:
      "Configures the SR-IOV device plugin of a node to advertise the VFs of its SriovNetworkNodeState, " +
      "or that of afxdp-plugins-for-kubernetes to announce the devices of its AfxdpNetworkNodeState.",
    flags: devicePluginConfigFlags,
    async main({ flags, setLogLevel, setNotReady, ...others }) {
      await using connection = await connectToCluster({
        kubeconfig: flags.kubeconfig,
        log: others.log,
        metrics: others.metrics,
        scrapes: others.scrapes,
      });
      const { transport, log } = connection;
      const service = {
        ...others,
        log,
        setNotReady(check: () => readonly string[]): void {
          setNotReady(() => [...connection.problems(), ...check()]);
        },
      };
      if (flags.plugin === "afxdp") {
        setLogLevel(levelOfVerbosity(flags.verbosity, flags.logLevel));
        const { configureAfxdpPlugins } = await import("./afxdp-plugins/configure-afxdp-plugins.ts");
        await configureAfxdpPlugins({ ...flags, ...service, transport });
        return;
      }
      await using _logLevel = followLogLevel({
        transport,
        namespace: flags.namespace,
        log: service.log,
        onVerbosity(verbosity) {
          setLogLevel(levelOfVerbosity(verbosity, flags.logLevel));
        },
      });
      await configurePlugin({ ...flags, ...service, transport });
    },
  });
}

/**
 * configurePlugin keeps the configuration of the SR-IOV device plugin up to date with the SriovNetworkNodeState of the node.
 * As keepConfigured.
 */
async function configurePlugin(options: ConfigurePluginOptions): Promise<void> {
  const { hostRoot, log } = options;
  await using published = watchPublishedVfs(options);
  await keepConfigured<SriovNetworkNodeState>(options, {
    type: sriovNetworkNodeStates,
    manager,
    watchMore(enqueue, signal) {
      published.subscribe(enqueue, signal);
    },
    createReconcile: (deps) =>
      createPluginReconciler({
        flags: options,
        log,
        ...deps,
        isReady: () => published.read() !== undefined,
        withholding: createWithholding({
          published: async ({ hasMoved, signal }) =>
            hasMoved ? await published.readExact(signal) : (published.read() ?? new Map()),
          resourcePrefix: options.resourcePrefix,
          offered: () => readOfferedVfs(options.configFile),
          readHolders: kubeletHolders(options.kubeletDirectory, ownPodOf(options)),
        }),
        handOver: createHandOver({ transport: options.transport, namespace: options.namespace, manager }),
        readUnregistered: createRegistration(options.kubeletDirectory),
        host: { sriov: createLinuxSriovSysfs(hostRoot), boot: createLinuxBoot(hostRoot) },
      }),
  });
}

function ownPodOf({ podName, namespace }: ConfigurePluginOptions): PodName | undefined {
  return podName === undefined ? undefined : { namespace, name: podName };
}

/**
 * followLogLevel watches the log level in the SriovOperatorConfig (sriov-operator.md A.6). Nothing waits for it: until the object
 * is known, or if it may not be read, the flag applies. Disposing of the result ends the watch.
 */
function followLogLevel({ transport, namespace, log, onVerbosity }: FollowLogLevelOptions): AsyncDisposable {
  const failed = createFailureLog(log);
  const configs = watchObjects({
    transport,
    namespace,
    type: sriovOperatorConfigs,
    fieldSelector: `metadata.name=${operatorConfigName}`,
    project: ({ spec }: SriovOperatorConfig) => ({ verbosity: spec?.logLevel }),
    report(error, { resource, ageMs }) {
      failed({ resource, ageMs, error }, "watch failed; retrying");
    },
  });
  configs.subscribe(({ after }) => {
    onVerbosity(after?.verbosity);
  });
  return configs;
}
