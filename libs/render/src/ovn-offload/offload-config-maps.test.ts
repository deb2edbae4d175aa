// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { managementPortForm } from "./management-port-maps.ts";

describe("managementPortForm", () => {
  it.each([
    { version: undefined, form: "name" },
    { version: "", form: "name" },
    { version: "four", form: "name" },
    { version: "4.9.59", form: "name" },
    { version: "4.13.0-rc.1", form: "name" },
    { version: "4.14.0-rc.1", form: "resource" },
    { version: "4.22.1", form: "resource" },
    { version: "5.0.0", form: "resource" },
  ])("of $version is $form", ({ version, form }) => {
    expect(managementPortForm(version)).toBe(form);
  });
});
