// SPDX-License-Identifier: Apache-2.0
/**
 * Accidents that administrators cause, as data: finalizers that nobody removes, backups from the middle of a drain, compactions of etcd, and
 * what they do to Nodes and pods. They start and end as those of accidents.ts.
 */
import { annotations, nodes as nodeType, pods as podType, sriovNetworkNodeStates } from "@switchyard/api";
import { isKubeError, isRecord, objectPath, type KubeObject, type ResourceType } from "@switchyard/kube";
import { setTimeout as delay } from "node:timers/promises";
import { ofKind, place, statusOf } from "../faults/scenarios/scenario.ts";
import {
  backedUp,
  blockDrain,
  changePolicy,
  create,
  deleteStates,
  dropBudget,
  merge,
  patchState,
  patient,
  podOn,
} from "./acts.ts";
import { untilAsWanted, workers, type Accident, type World } from "./checker.ts";

async function setFinalizers(
  { cluster }: World,
  type: ResourceType,
  metadata: KubeObject["metadata"],
  finalizers: readonly string[],
) {
  await cluster.transport.request({ ...merge, path: objectPath(type, metadata), body: { metadata: { finalizers } } });
}

function nodeNamed({ cluster }: World, name: string): KubeObject | undefined {
  return ofKind(cluster.observer.objects(), nodeType.kind).find(({ metadata }) => metadata.name === name);
}

const isCordoned = (world: World, name: string): boolean => {
  const node = nodeNamed(world, name);
  return node !== undefined && "spec" in node && isRecord(node.spec) && node.spec["unschedulable"] === true;
};

export const administrators: readonly Accident[] = [
  {
    name: "a node state that somebody deletes has a finalizer of others for twenty seconds, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      await setFinalizers(world, sriovNetworkNodeStates, place("worker-1"), ["example.com/keep"]);
      await deleteStates(world, ["worker-1"]);
      await changePolicy(world);
      await delay(20_000);
      await setFinalizers(world, sriovNetworkNodeStates, place("worker-1"), []);
    },
  },
  {
    name: "the node states are restored from a backup that was made in the middle of a drain",
    mayChangeVfs: true,
    async act(world) {
      await blockDrain(world);
      const backup = ofKind(world.cluster.observer.objects(), sriovNetworkNodeStates.kind);
      await dropBudget(world);
      await untilAsWanted(world, patient);
      await deleteStates(world, workers);
      for (const state of backup) {
        await create(world, sriovNetworkNodeStates, backedUp(state));
        await world.cluster.transport.request({
          ...merge,
          path: objectPath(sriovNetworkNodeStates, state.metadata),
          body: { metadata: { annotations: state.metadata.annotations, labels: { "velero.io/restore-name": "last" } } },
        });
        await patchState(world, state.metadata.name, { status: statusOf(state) }, "status");
      }
    },
  },
  {
    name: "etcd is compacted and the API server restarted three times, while a policy changes",
    mayBeRefused: true, // an API server that starts does not know all roles for a moment
    mayChangeVfs: true,
    async act(world) {
      const { controlPlane } = world.cluster;
      await changePolicy(world);
      for (let times = 0; times < 3; times++) {
        await controlPlane.compactEtcd();
        await controlPlane.killApiServer();
        await controlPlane.startApiServer();
        await delay(2_000);
      }
    },
  },
  {
    name: "a Node is unreachable for twenty seconds, while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      const { transport } = world.cluster;
      const report = async (status: string, taints: readonly object[]) => {
        const conditions = [{ type: "Ready", status, reason: "NodeStatusUnknown", message: "" }];
        const path = objectPath(nodeType, { name: "worker-1" }, "status");
        await transport.request({ ...merge, path, body: { status: { conditions } } });
        const body = { spec: { taints } };
        await transport.request({ ...merge, path: objectPath(nodeType, { name: "worker-1" }), body });
      };
      const effects = ["NoSchedule", "NoExecute"];
      const taints = effects.map((effect) => ({ key: "node.kubernetes.io/unreachable", effect }));
      await report("Unknown", taints);
      await changePolicy(world);
      await delay(20_000);
      await report("True", []);
    },
  },
  {
    name: "an administrator uncordons the node that is being drained",
    mayChangeVfs: true,
    async act(world) {
      const node = await blockDrain(world);
      await world.cluster.controlPlane.kubectl(["uncordon", node]);
      await delay(5_000);
      await dropBudget(world);
    },
  },
  {
    name: "an administrator has cordoned a node before a policy changes",
    mayChangeVfs: true,
    async act(world) {
      const { controlPlane, observer } = world.cluster;
      await controlPlane.kubectl(["cordon", "worker-3"]);
      await changePolicy(world);
      const isConfigured = () => {
        const state = ofKind(observer.objects(), sriovNetworkNodeStates.kind).find(
          ({ metadata }) => metadata.name === "worker-3",
        );
        const { syncStatus, observedGeneration } = statusOf(state);
        const isIdle = (state?.metadata.annotations?.[annotations.currentState] ?? "Idle") === "Idle";
        return isIdle && syncStatus === "Succeeded" && observedGeneration === state?.metadata.generation;
      };
      await delay(3_000); // the operator has written the new spec
      await world.cluster.until("the node is configured", isConfigured, patient);
      await delay(3_000);
      if (!isCordoned(world, "worker-3")) throw new Error("the operator has uncordoned a node of an administrator");
      await controlPlane.kubectl(["uncordon", "worker-3"]);
    },
  },
  {
    name: "a pod that a drain evicts has a finalizer of others for twenty seconds",
    mayChangeVfs: true,
    async act(world) {
      await setFinalizers(world, podType, podOn("worker-1"), ["example.com/keep"]);
      await changePolicy(world);
      await delay(20_000);
      await setFinalizers(world, podType, podOn("worker-1"), []).catch((error: unknown) => {
        if (!isKubeError(error, "NotFound")) throw error;
      });
    },
  },
];
