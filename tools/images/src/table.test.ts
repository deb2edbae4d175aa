// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "@jest/globals";
import type { BuiltImage, PlatformImage } from "./build.ts";
import { formatTable } from "./cli.ts";

const platform = (architecture: PlatformImage["architecture"], own: string): PlatformImage => ({
  architecture,
  digest: `sha256:${own}`,
  size: 12_000_000,
  layers: [
    { digest: "sha256:common", size: 10_000_000 },
    { digest: `sha256:layer-${own}`, size: 1_900_000 },
  ],
  sbom: "",
});
const image = (app: BuiltImage["app"], platforms: readonly PlatformImage[]): BuiltImage => {
  return { app, name: `switchyard-${app}`, tag: "1.2.3", digest: `sha256:${app}`, layout: app, platforms };
};

it("shows what a node of each architecture downloads besides the layers that it has", () => {
  const images = [
    image("operator", [platform("amd64", "a"), platform("arm64", "b")]),
    image("webhook", [platform("amd64", "c")]),
  ];
  const rows = formatTable(images)
    .trimEnd()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map((cells) => cells.filter((cell) => cell !== ""));
  expect(rows).toEqual([
    expect.arrayContaining(["image", "more MB"]),
    expect.arrayContaining([expect.stringMatching(/^-+$/)]),
    ["switchyard-operator:1.2.3", "all", "sha256:operator"],
    ["amd64", "12.0", "12.0", "10.0 + 1.9", "sha256:a"],
    ["arm64", "12.0", "12.0", "10.0 + 1.9", "sha256:b"],
    ["switchyard-webhook:1.2.3", "all", "sha256:webhook"],
    ["amd64", "12.0", "2.0", "=10.0 + 1.9", "sha256:c"],
  ]);
});
