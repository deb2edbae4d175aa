// SPDX-License-Identifier: Apache-2.0
/**
 * What clusters really suffer, as data: people delete and restore objects, kinds vanish, rights are lost, backups are restored. Each
 * accident starts in a healthy cluster of three nodes whose pods have VFs, and the users want the same or another number of VFs at its end.
 */
import {
  annotations,
  nodes as nodeType,
  operatorConfigName,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  sriovNetworks,
  sriovOperatorConfigs,
} from "@switchyard/api";
import { collectionPath, objectPath } from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import { confirmReset } from "@switchyard/test-cluster";
import { setTimeout as delay } from "node:timers/promises";
import { componentSettings } from "../src/operator/identity-objects.ts";
import { has, ofKind, place } from "../faults/scenarios/scenario.ts";
import {
  applyPolicy,
  backedUp,
  blockDrain,
  changePolicy,
  create,
  createKinds,
  deleteKind,
  deleteStates,
  dropBudget,
  merge,
  patchState,
  patient,
} from "./acts.ts";
import { workers, type Accident, type World } from "./checker.ts";

const isHeld = ({ cluster }: World, reason: string) =>
  has(cluster.observer.objects(), `SriovOperatorConfig ${operatorConfigName}`, "ResetHeld", reason);

export const accidents: readonly Accident[] = [
  {
    name: "a node state is deleted while a budget blocks the drain of its node",
    mayChangeVfs: true,
    async act(world) {
      const node = await blockDrain(world);
      await deleteStates(world, [node]);
      await delay(3_000);
      await dropBudget(world);
    },
  },
  {
    name: "all node states are deleted as first aid for a blocked drain, twice",
    mayChangeVfs: true,
    async act(world) {
      await blockDrain(world);
      await deleteStates(world, workers);
      await delay(2_000);
      await deleteStates(world, workers);
      await delay(2_000);
      await dropBudget(world);
    },
  },
  {
    name: "the policy is reverted while a budget blocks the drain, and the node state is deleted at the same time",
    async act(world) {
      const node = await blockDrain(world);
      world.wish.numVfs = 9 - world.wish.numVfs;
      await Promise.all([applyPolicy(world), deleteStates(world, [node])]);
      await delay(1_000);
      await dropBudget(world);
    },
  },
  { name: "all node states are deleted", act: (world) => deleteStates(world, workers) },
  {
    name: "the SriovOperatorConfig is deleted with all that it owns, and created again",
    async act(world) {
      const { users, observer } = world.cluster;
      await users.delete(sriovOperatorConfigs, place(operatorConfigName));
      const areGone = () => ofKind(observer.objects(), "SriovNetworkNodeState").length === 0;
      await world.cluster.until("the node states are collected", areGone, patient);
      await users.apply(sriovOperatorConfigs, { metadata: place(operatorConfigName), spec: {} });
    },
  },
  {
    name: "all policies are deleted by mistake, and restored before the announced reset",
    async act(world) {
      await world.cluster.users.delete(sriovNetworkNodePolicies, place("fast"));
      await world.cluster.until("the reset is announced", () => isHeld(world, "MassLoss"), patient);
      await delay(5_000);
      await applyPolicy(world);
    },
  },
  {
    name: "the CustomResourceDefinition of the policies is replaced, and the policies are restored later",
    withinMs: 240_000,
    async act(world) {
      await deleteKind(world, sriovNetworkNodePolicies);
      await delay(3_000);
      await createKinds(world);
      await delay(5_000);
      await applyPolicy(world);
    },
  },
  {
    name: "the CustomResourceDefinition of the node states is replaced",
    withinMs: 240_000,
    async act(world) {
      await deleteKind(world, sriovNetworkNodeStates);
      await delay(3_000);
      await createKinds(world);
    },
  },
  {
    name: "the CustomResourceDefinition of the networks is replaced",
    withinMs: 240_000,
    async act(world) {
      await deleteKind(world, sriovNetworks);
      await createKinds(world);
    },
  },
  {
    name: "somebody empties the spec of a node state",
    act: (world) => patchState(world, "worker-1", { spec: { interfaces: [] } }),
  },
  {
    name: "somebody removes the status of a node state",
    act: (world) => patchState(world, "worker-2", { status: null }, "status"),
  },
  {
    name: "somebody restores a wrong status of a node state",
    act: (world) =>
      patchState(
        world,
        "worker-2",
        { status: { syncStatus: "Failed", lastSyncError: "old", interfaces: [] } },
        "status",
      ),
  },
  {
    name: "a Node is registered again with another UID",
    async act({ cluster }) {
      const node = ofKind(cluster.observer.objects(), "Node").find(({ metadata }) => metadata.name === "worker-3");
      await cluster.users.delete(nodeType, { name: "worker-3" });
      await delay(1_500);
      const body = { apiVersion: "v1", kind: "Node", metadata: { name: "worker-3", labels: node?.metadata.labels } };
      await cluster.transport.request({ method: "POST", path: collectionPath(nodeType), body });
    },
  },
  {
    name: "the operator is killed three times while a policy changes",
    mayChangeVfs: true,
    async act(world) {
      await changePolicy(world);
      for (let times = 0; times < 3; times++) {
        await delay(700);
        await world.cluster.restartOperator();
      }
    },
  },
  {
    name: "the operator loses its rights for ten seconds",
    mayBeRefused: true,
    async act({ cluster }) {
      const { operatorServiceAccount } = componentSettings;
      await cluster.controlPlane.kubectl(["delete", "clusterrolebinding", operatorServiceAccount]);
      await delay(10_000);
      const list = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
      await cluster.controlPlane.kubectl(["apply", "-f", "-"], { input: JSON.stringify(list) });
    },
  },
  {
    name: "a script requests a drain on the Node, and withdraws it",
    async act({ cluster }) {
      const note = (value: string) =>
        cluster.controlPlane.kubectl([
          "annotate",
          "node",
          "worker-1",
          "--overwrite",
          `${annotations.nodeState}=${value}`,
        ]);
      await note("Drain_Required");
      await delay(3_000);
      await note("Idle");
    },
  },
  {
    name: "all objects are restored from a backup without status, the policies last",
    async act(world) {
      const { users, observer } = world.cluster;
      const kinds = [sriovOperatorConfigs, sriovNetworkNodeStates];
      const backup = kinds.map((type) => ofKind(observer.objects(), type.kind).map(backedUp));
      await users.delete(sriovOperatorConfigs, place(operatorConfigName));
      await users.delete(sriovNetworkNodePolicies, place("fast"));
      const areGone = () => ofKind(observer.objects(), "SriovNetworkNodeState").length === 0;
      await world.cluster.until("the node states are collected", areGone, patient);
      for (const [index, type] of kinds.entries()) {
        for (const body of backup[index] ?? []) await create(world, type, body);
      }
      await delay(3_000);
      await applyPolicy(world);
    },
  },
  {
    name: "a policy has a thousand annotations",
    async act({ cluster }) {
      const notes = Object.fromEntries(
        Array.from({ length: 1_000 }, (_, at) => [`example.com/note-${at}`, "x".repeat(64)]),
      );
      await cluster.transport.request({
        ...merge,
        path: objectPath(sriovNetworkNodePolicies, place("fast")),
        body: { metadata: { annotations: notes } },
      });
    },
  },
  {
    name: "a person deletes all policies and confirms the reset, and creates them again",
    mayChangeVfs: true,
    async act(world) {
      const { users, transport } = world.cluster;
      await users.delete(sriovNetworkNodePolicies, place("fast"));
      await world.cluster.until("the reset is announced", () => isHeld(world, "MassLoss"), patient);
      await confirmReset(sriovOperatorConfigs, {
        read: (path) => transport.request({ method: "GET", path }),
        merge: (path, body) => transport.request({ ...merge, path, body }),
      });
      const isReset = async () => [...(await users.nodes.countVfs()).values()].every((count) => count === 0);
      for (let tries = 0; tries < 240 && !(await isReset()); tries++) await delay(250);
      await applyPolicy(world);
    },
  },
  {
    name: "a backup of etcd is restored below the running operator and daemons, and a policy changes after it",
    mayChangeVfs: true,
    mayBeRefused: true, // until the API server has read the roles again
    withinMs: 400_000, // a watch of a daemon lists again after a silence of 150 s
    async act(world) {
      const { transport, controlPlane } = world.cluster;
      const restore = await controlPlane.backUpEtcd();
      for (let writes = 0; writes < 100; writes++) {
        const body = { metadata: { annotations: { "example.com/noise": `${writes}` } } };
        const path = objectPath(nodeType, { name: "worker-1" });
        await transport.request({ ...merge, path, body });
      }
      await restore();
      await changePolicy(world);
    },
  },
];
