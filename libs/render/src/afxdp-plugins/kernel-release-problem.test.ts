// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { kernelReleaseProblem } from "./plugin-problems.ts";

describe("kernelReleaseProblem", () => {
  it.each(["4.18.0", "5.4.0-89-generic", "5.14.0-503.11.1.el9_5.x86_64", "6.18.0+", "6.1.0-18-amd64", "6.8.12-3-pve"])(
    "accepts %s",
    (release) => {
      expect(kernelReleaseProblem(release)).toBeUndefined();
    },
  );

  it.each([
    { release: "6.12.117+deb12-amd64", why: 'cannot read the kernel release "6.12.117+deb12-amd64", and ends' },
    { release: "6.6.52_1", why: "cannot read" },
    { release: "9999.9999.9999.9999.9999", why: "cannot read" },
    { release: "4.17.19-generic", why: "needs kernel 4.18.0 or later" },
    { release: "6.12", why: "needs kernel 4.18.0 or later" }, // its number has two parts only
  ])('refuses "$release"', ({ release, why }) => {
    expect(kernelReleaseProblem(release)).toContain(why);
    expect(kernelReleaseProblem(release)).toContain("provider switchyard");
  });
});
