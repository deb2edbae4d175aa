// SPDX-License-Identifier: Apache-2.0
/**
 * Networks of all kinds come, move and go, beside what users made themselves: one of them has the name of a network's
 * NetworkAttachmentDefinition.
 */
import {
  bridgeNetworks,
  networkAttachmentDefinitions,
  ovsNetworks,
  sriovIBNetworks,
  sriovNetworks,
} from "@switchyard/api";
import { has, ofKind, place, type Life } from "./life.ts";
import { namespaces } from "./types.ts";

const ipam = JSON.stringify({ type: "static" });

export const lifeOfNetworks: Life = {
  name: "networks",
  flags: [],
  steps: [
    {
      name: "users have namespaces and a definition of their own",
      async act(actors) {
        for (const name of ["blue", "red"]) await actors.apply(namespaces, { metadata: { name } });
        await actors.apply(networkAttachmentDefinitions, {
          metadata: { name: "taken", namespace: "blue", labels: { owner: "somebody" } },
          spec: { config: JSON.stringify({ cniVersion: "1.0.0", type: "macvlan" }) },
        });
      },
      isDone: (objects) => ofKind(objects, networkAttachmentDefinitions.kind).length === 1,
    },
    {
      name: "networks are made",
      async act(actors) {
        const fast = { resourceName: "fast", ipam };
        await actors.apply(sriovNetworks, {
          metadata: place("web"),
          spec: { ...fast, networkNamespace: "blue", vlan: 5 },
        });
        await actors.apply(sriovNetworks, { metadata: { name: "own", namespace: "red" }, spec: fast });
        await actors.apply(sriovNetworks, { metadata: place("taken"), spec: { ...fast, networkNamespace: "blue" } });
        await actors.apply(sriovNetworks, { metadata: place("late"), spec: { ...fast, networkNamespace: "green" } });
        await actors.apply(sriovIBNetworks, { metadata: place("ib"), spec: { resourceName: "ib" } });
        await actors.apply(ovsNetworks, { metadata: place("ovs"), spec: { ...fast, bridge: "br-1" } });
        await actors.apply(bridgeNetworks, { metadata: place("bridge"), spec: { ...fast, bridge: "br-2" } });
      },
      isDone: (objects) =>
        ["SriovNetwork web", "SriovNetwork own", "SriovIBNetwork ib", "OVSNetwork ovs", "BridgeNetwork bridge"].every(
          (label) => has(objects, label, "Ready"),
        ) && ["SriovNetwork taken", "SriovNetwork late"].every((label) => has(objects, label, "Degraded")),
    },
    {
      name: "a network moves, another changes, a namespace comes",
      async act(actors) {
        const fast = { resourceName: "fast", ipam };
        await actors.apply(sriovNetworks, {
          metadata: place("web"),
          spec: { ...fast, networkNamespace: "red", vlan: 5 },
        });
        await actors.apply(ovsNetworks, { metadata: place("ovs"), spec: { ...fast, bridge: "br-1", vlan: 7 } });
        await actors.apply(namespaces, { metadata: { name: "green" } });
      },
      isDone: (objects) =>
        ["SriovNetwork web", "SriovNetwork late", "OVSNetwork ovs"].every((label) => has(objects, label, "Ready")),
    },
    {
      name: "networks are deleted",
      async act(actors) {
        for (const name of ["web", "taken", "late"]) await actors.delete(sriovNetworks, place(name));
        await actors.delete(sriovNetworks, { name: "own", namespace: "red" });
        await actors.delete(sriovIBNetworks, place("ib"));
        await actors.delete(ovsNetworks, place("ovs"));
        await actors.delete(bridgeNetworks, place("bridge"));
      },
      isDone: (objects) => ofKind(objects, networkAttachmentDefinitions.kind).length === 1,
    },
    {
      name: "users take what is theirs away",
      async act(actors) {
        await actors.delete(networkAttachmentDefinitions, { name: "taken", namespace: "blue" });
        for (const name of ["blue", "red", "green"]) await actors.delete(namespaces, { name });
      },
      isDone: (objects) => !ofKind(objects, "Namespace").some(({ metadata }) => metadata.name === "green"),
    },
  ],
};
