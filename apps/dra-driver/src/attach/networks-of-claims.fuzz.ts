// SPDX-License-Identifier: Apache-2.0
/** CNI configurations that users write, and files with the devices of claims. What becomes a program or a path is checked. */
import { parseClaimSpec } from "@switchyard/render";
import { FuzzFinding, type FuzzTarget } from "@switchyard/testing/fuzz";
import { parseCniChain, pluginInput } from "./cni-chain.ts";

const chain = {
  cniVersion: "1.0.0",
  name: "n",
  plugins: [{ type: "sriov", ipam: { type: "static" } }, { type: "tuning" }],
};
const claim = {
  ...{
    cdiVersion: "0.6.0",
    kind: "switchyard.io/claim",
    annotations: {
      "switchyard.io/namespace": "n",
      "switchyard.io/name": "c",
      "switchyard.io/uid": "8b7d3c1e-0000-4000-8000-000000000000",
    },
  },
  devices: [
    {
      name: "0000:3b:02.0",
      annotations: { "switchyard.io/request": "r", "switchyard.io/driver": "vfio-pci" },
      containerEdits: { env: ["A=b"] },
    },
  ],
};

export const targets: readonly FuzzTarget[] = [
  {
    name: "claim-networks",
    seeds: [JSON.stringify(chain), JSON.stringify(chain.plugins[0]), JSON.stringify(claim)],
    run(input) {
      const text = input.toString("utf8");
      const read = parseCniChain(text, "n");
      if (read.ok) {
        for (const [nth, { type }] of read.value.plugins.entries()) {
          if (type.includes("/") || type.startsWith(".")) throw new FuzzFinding("the name of a program is a path");
          JSON.stringify(pluginInput(read.value, nth, { pciAddress: "0000:3b:02.0" }));
        }
      }
      const known = parseClaimSpec(text);
      if (known !== undefined && /[^\w-]/.test(known.uid)) throw new FuzzFinding("a uid is a path");
    },
  },
];
