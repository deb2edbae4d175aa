// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parsePodNetworks } from "./pod-networks.ts";

describe("parsePodNetworks", () => {
  it.each([
    { text: "", networks: [] },
    { text: "fast, nets/slow@net2", networks: ["apps/fast", "nets/slow"] },
    {
      text: '[{"name":"fast"},{"name":"slow","namespace":"nets","interface":"x"}]',
      networks: ["apps/fast", "nets/slow"],
    },
    { text: "[{", networks: undefined },
    { text: '[{"namespace":"nets"}]', networks: undefined },
    { text: "fast slow", networks: undefined },
  ])("reads $text", ({ text, networks }) => {
    expect(parsePodNetworks(text, "apps")?.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(networks);
  });
});
