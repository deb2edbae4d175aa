// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isUpstreamUnit } from "./boot-units.ts";

const start = "ExecStart=/var/lib/sriov/sriov-network-config-daemon";

describe("isUpstreamUnit", () => {
  it.each([
    { what: "the first phase", name: "sriov-config.service", lines: [`${start} service --phase pre`], is: true },
    {
      what: "the second phase",
      name: "sriov-config-post-network.service",
      lines: [`${start} service --phase post`],
      is: true,
    },
    { what: "a release without phases", name: "sriov-config.service", lines: [`${start} -v 2 service`], is: true },
    { what: "another name", name: "sriov.service", lines: [`${start} service --phase pre`], is: false },
    { what: "another program", name: "sriov-config.service", lines: ["ExecStart=/usr/bin/vfs service"], is: false },
    {
      what: "a second program",
      name: "sriov-config.service",
      lines: [`${start} service --phase pre`, "ExecStartPost=/bin/x"],
      is: false,
    },
    { what: "no program", name: "sriov-config.service", lines: ["Type=oneshot"], is: false },
  ])("returns $is for $what", ({ name, lines, is }) => {
    expect(isUpstreamUnit(name, ["[Service]", ...lines, ""].join("\n"))).toBe(is);
  });
});
