// SPDX-License-Identifier: Apache-2.0

// Command oldest validates updates of the status of custom resources as the API server of Kubernetes 1.30 does: it checks all
// CEL rules, also those of fields that did not change (k8s.io/apiextensions-apiserver 0.30, status_strategy.go). Stdin is
// {"crds": [CRD...], "updates": [{"old", "new"}...]}. It prints {"crds": [errors of each CRD...], "updates": [errors of each
// update...]}.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type input struct {
	Crds    []apiextensionsv1.CustomResourceDefinition `json:"crds"`
	Updates []struct {
		Old map[string]interface{} `json:"old"`
		New map[string]interface{} `json:"new"`
	} `json:"updates"`
}

type output struct {
	Crds    [][]string `json:"crds"`
	Updates [][]string `json:"updates"`
}

type kindValidator struct {
	structural *schema.Structural
	rules      *cel.Validator
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	result := output{Crds: [][]string{}, Updates: [][]string{}}
	validators := map[string]kindValidator{}
	for index := range given.Crds {
		crd := &given.Crds[index]
		apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		internal := &apiextensions.CustomResourceDefinition{}
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
			return err
		}
		internal.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
		result.Crds = append(result.Crds, texts(validation.ValidateCustomResourceDefinition(context.Background(), internal)))
		props := &apiextensions.JSONSchemaProps{}
		own := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(own, props, nil); err != nil {
			return err
		}
		structural, err := schema.NewStructural(props)
		if err != nil {
			return err
		}
		rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
		validators[crd.Spec.Names.Kind] = kindValidator{structural, rules}
	}
	for _, update := range given.Updates {
		kind, _ := update.New["kind"].(string)
		own, ok := validators[kind]
		if !ok {
			return fmt.Errorf("no CRD for kind %q", kind)
		}
		errs := field.ErrorList{}
		if own.rules != nil {
			errs, _ = own.rules.Validate(context.Background(), nil, own.structural, integers(update.New), integers(update.Old), celconfig.RuntimeCELCostBudget)
		}
		result.Updates = append(result.Updates, texts(errs))
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func texts(errs field.ErrorList) []string {
	lines := []string{}
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	return lines
}

// integers turns whole numbers into int64, as the decoder of the API server does.
func integers(value interface{}) interface{} {
	switch typed := value.(type) {
	case map[string]interface{}:
		for key, member := range typed {
			typed[key] = integers(member)
		}
	case []interface{}:
		for index, item := range typed {
			typed[index] = integers(item)
		}
	case float64:
		if typed == float64(int64(typed)) {
			return int64(typed)
		}
	}
	return value
}
