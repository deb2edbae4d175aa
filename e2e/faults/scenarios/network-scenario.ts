// SPDX-License-Identifier: Apache-2.0
/**
 * networkScenario creates, moves and deletes networks of all kinds, next to objects of users. One of these has the name
 * of a network's NetworkAttachmentDefinition.
 */
import {
  bridgeNetworks,
  networkAttachmentDefinitions,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworks,
} from "@switchyard/api";
import { has, ofKind, place, type Scenario } from "./scenario.ts";
import { namespaces } from "../types.ts";

const ipam = JSON.stringify({ type: "static" });

export const networkScenario: Scenario = {
  name: "networks",
  flags: [],
  steps: [
    {
      name: "users create namespaces and a NetworkAttachmentDefinition",
      async act(users) {
        for (const name of ["blue", "red"]) await users.apply(namespaces, { metadata: { name } });
        await users.apply(networkAttachmentDefinitions, {
          metadata: { name: "taken", namespace: "blue", labels: { owner: "somebody" } },
          spec: { config: JSON.stringify({ cniVersion: "1.0.0", type: "macvlan" }) },
        });
      },
      isDone: (objects) => ofKind(objects, networkAttachmentDefinitions.kind).length === 1,
    },
    {
      name: "networks are created",
      async act(users) {
        const fast = { resourceName: "fast", ipam };
        await users.apply(sriovNetworks, {
          metadata: place("web"),
          spec: { ...fast, networkNamespace: "blue", vlan: 5 },
        });
        await users.apply(sriovNetworks, { metadata: { name: "own", namespace: "red" }, spec: fast });
        await users.apply(sriovNetworks, { metadata: place("taken"), spec: { ...fast, networkNamespace: "blue" } });
        await users.apply(sriovNetworks, { metadata: place("late"), spec: { ...fast, networkNamespace: "green" } });
        await users.apply(sriovIBNetworks, { metadata: place("ib"), spec: { resourceName: "ib" } });
        await users.apply(ovsNetworks, { metadata: place("ovs"), spec: { ...fast, bridge: "br-1" } });
        await users.apply(bridgeNetworks, { metadata: place("bridge"), spec: { ...fast, bridge: "br-2" } });
      },
      isDone: (objects) =>
        ["SriovNetwork web", "SriovNetwork own", "SriovIBNetwork ib", "OVSNetwork ovs", "BridgeNetwork bridge"].every(
          (label) => has(objects, label, "Ready"),
        ) && ["SriovNetwork taken", "SriovNetwork late"].every((label) => has(objects, label, "Degraded")),
    },
    {
      name: "a network moves, another one changes, and a namespace is created",
      async act(users) {
        const fast = { resourceName: "fast", ipam };
        await users.apply(sriovNetworks, {
          metadata: place("web"),
          spec: { ...fast, networkNamespace: "red", vlan: 5 },
        });
        await users.apply(ovsNetworks, { metadata: place("ovs"), spec: { ...fast, bridge: "br-1", vlan: 7 } });
        await users.apply(namespaces, { metadata: { name: "green" } });
      },
      isDone: (objects) =>
        ["SriovNetwork web", "SriovNetwork late", "OVSNetwork ovs"].every((label) => has(objects, label, "Ready")),
    },
    {
      name: "networks are deleted",
      async act(users) {
        for (const name of ["web", "taken", "late"]) await users.delete(sriovNetworks, place(name));
        await users.delete(sriovNetworks, { name: "own", namespace: "red" });
        await users.delete(sriovIBNetworks, place("ib"));
        await users.delete(ovsNetworks, place("ovs"));
        await users.delete(bridgeNetworks, place("bridge"));
      },
      isDone: (objects) => ofKind(objects, networkAttachmentDefinitions.kind).length === 1,
    },
    {
      name: "users delete their objects",
      async act(users) {
        await users.delete(networkAttachmentDefinitions, { name: "taken", namespace: "blue" });
        for (const name of ["blue", "red", "green"]) await users.delete(namespaces, { name });
      },
      isDone: (objects) => !ofKind(objects, "Namespace").some(({ metadata }) => metadata.name === "green"),
    },
  ],
};
