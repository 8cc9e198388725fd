// pod-security says what the level "restricted" of Kubernetes' Pod Security Standards has against the pods of a file of
// objects: pod-security FILE. A line for each objection; nothing if there are none. It is Kubernetes' own evaluator.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// Deployments, StatefulSets and Jobs have their template at the same place.
type workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Template corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	pods := 0
	for {
		var object workload
		if err := documents.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		switch object.Kind {
		case "Deployment", "StatefulSet", "DaemonSet", "Job":
		default:
			continue
		}
		pods++
		template := object.Spec.Template
		for _, result := range evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec) {
			if !result.Allowed {
				fmt.Printf("%s %s: %s: %s\n", object.Kind, object.Name, result.ForbiddenReason, result.ForbiddenDetail)
			}
		}
	}
	if pods == 0 {
		return errors.New("there are no pods in it")
	}
	return nil
}
