package contract

import "time"

// MovedIn is the result of an import of another gateway's file.
type MovedIn struct {
	ID        string         `json:"id" example:"imp_01"`
	Team      string         `json:"team" doc:"ID of the team"`
	Source    string         `json:"source" doc:"Gateway and format of the files" example:"kong 3.0"`
	Product   string         `json:"product" doc:"Name of the product that all projects and keys belong to"`
	Tenant    string         `json:"tenant" doc:"Name of the tenant that contains the owners and groups"`
	Projects  []MovedProject `json:"projects"`
	ToDo      []LedgerLine   `json:"to_do" doc:"Lines of the plan with a step that you still need to take, without the names of their items"`
	Created   MovedCounts    `json:"created" doc:"Number of created objects of each kind"`
	Updated   MovedCounts    `json:"updated" doc:"Number of objects that an earlier import created and this one changed"`
	Unchanged int64          `json:"unchanged" doc:"Number of objects that already matched the files"`
	Kept      MovedList      `json:"kept" doc:"Objects that weren't updated because they were changed in Postern. They differ from the files"`
	Vanished  MovedList      `json:"vanished" doc:"Objects that an earlier import created but that aren't in the files. They weren't deleted"`
	CreatedAt time.Time      `json:"created_at"`

	CannotUndo string `json:"cannot_undo" doc:"Why the import can't be undone, and what you can do instead. Empty if no other import prevents it"`
}

// MovedProject is a project that an import created, or that an earlier one created.
type MovedProject struct {
	ID   string   `json:"id" example:"prj_01"`
	Name string   `json:"name"`
	From string   `json:"from" doc:"Pointer to the service in the file"`
	New  bool     `json:"new" doc:"True if this import created it"`
	URLs []string `json:"urls" doc:"Gateway URLs of its environments"`

	Closed []string `json:"closed" doc:"Names of the versions that the import created to refuse every call"`
}

// MovedCounts are numbers of objects.
type MovedCounts struct {
	Projects     int64 `json:"projects"`
	Versions     int64 `json:"versions"`
	Environments int64 `json:"environments"`
	Domains      int64 `json:"domains" doc:"Number of custom domains"`
	Groups       int64 `json:"groups"`
	Owners       int64 `json:"owners" doc:"Number of owners of keys"`
	Keys         int64 `json:"keys"`
}

// Total returns the number of all objects.
func (c MovedCounts) Total() int64 {
	return c.Projects + c.Versions + c.Environments + c.Domains + c.Groups + c.Owners + c.Keys
}

// MovedList are objects that an import left unchanged.
type MovedList struct {
	Total int64         `json:"total"`
	Items []MovedObject `json:"items" doc:"The first 1,000"`
}

// mostMoved is how many objects a MovedList has.
const mostMoved = 1000

// Add adds an object.
func (l *MovedList) Add(one MovedObject) {
	if l.Total++; len(l.Items) < mostMoved {
		l.Items = append(l.Items, one)
	}
}

// MovedObject is an object that an import left unchanged.
type MovedObject struct {
	Kind    string `json:"kind" enum:"product,tenant,project,version,environment,domain,group,owner,key"`
	ID      string `json:"id" doc:"ID of the object, or the name of an owner"`
	Name    string `json:"name"`
	Pointer string `json:"pointer" doc:"JSON Pointer to it in the file. Empty if it isn't in the file"`
	Detail  string `json:"detail" doc:"Why it was left unchanged"`
}
