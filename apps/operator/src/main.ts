// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's process: watches the cluster, and runs the controllers while it leads.
 */
import { connect, runWhenLeading, type Transport } from "@switchyard/kube";
import { parseStaleDelayMs } from "@switchyard/policy";
import { flag, runService, text, yesOrNo } from "@switchyard/service";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { watchCluster } from "./caches.ts";
import { startControllers } from "./controllers.ts";
import { createOperatorMetrics } from "./operator-metrics.ts";

const exitCode = await runService({
  name: "operator",
  version: "0.1.0",
  summary: "Merges policies into one SriovNetworkNodeState per node and reports how far the nodes are.",
  flags: {
    leaderElect: flag(yesOrNo, {
      default: "true",
      env: "LEADER_ELECT",
      help: "Work only while holding the Lease, so that several replicas can stand by.",
    }),
    staleNodeStateCleanupDelayMinutes: flag(text("MINUTES"), {
      default: "30",
      env: "STALE_NODE_STATE_CLEANUP_DELAY_MINUTES",
      help: "How long the state of a node that left is kept; 0 deletes it at once.",
    }),
  },
  async main({ flags, log, metrics: registry, signal, setNotReady }) {
    const { namespace } = flags;
    await using transport = await connect({ kubeconfig: flags.kubeconfig });
    const report = (error: unknown): void => {
      log.warn({ error }, "watch failed, will be taken up again");
    };
    await using caches = watchCluster({ transport, namespace, report });
    const metrics = createOperatorMetrics(registry, caches.states);
    const { nodes, policies, pools, operatorConfigs, states } = caches;
    const watched = { nodes, policies, pools, operatorConfigs, states };
    setNotReady(() => Object.entries(watched).flatMap(([name, { synced }]) => (synced ? [] : [`${name} not synced`])));

    const staleDelayMs = parseStaleDelayMs(flags.staleNodeStateCleanupDelayMinutes);
    async function lead(client: Transport, leading: AbortSignal): Promise<void> {
      log.info("leading");
      metrics.setLeading(true);
      await using _controllers = startControllers({
        ...{ transport: client, namespace, caches, staleDelayMs, log, metrics },
        signal: leading,
      });
      await new Promise<void>((resolve) => {
        if (leading.aborted) resolve();
        leading.addEventListener(
          "abort",
          () => {
            resolve();
          },
          { once: true },
        );
      });
      metrics.setLeading(false);
    }

    if (!flags.leaderElect) {
      await lead(transport, signal);
      return;
    }
    await runWhenLeading({
      transport,
      lease: { namespace, name: "switchyard-operator" },
      identity: `${hostname()}_${randomUUID()}`,
      signal,
      onLeading: (leadership) => lead(leadership.transport, leadership.signal),
      report: (error) => {
        log.warn({ error }, "lease request failed, will be tried again");
      },
    });
  },
});

// Whatever is still open, an idle connection or a watch of the kernel, is nothing to wait for.
process.exit(exitCode);
