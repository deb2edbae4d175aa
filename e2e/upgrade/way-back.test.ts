// SPDX-License-Identifier: Apache-2.0
/** The way back to upstream's operator with the newest versions of Helm, also by Helm 4 if Helm 3 has installed the release. */
import { describeWayBack } from "./describe-way-back.ts";

describeWayBack({ installedBy: "helm3", version: "helm3" });
describeWayBack({ installedBy: "helm4", version: "helm4" });
describeWayBack({ installedBy: "helm3", version: "helm4" });
