package projects

import "postern/core/snapshot"

// Serve makes the feed serve a project that is in no database.
func (f *Feed) Serve(project *snapshot.Project) { f.accepted([]*snapshot.Project{project}) }
